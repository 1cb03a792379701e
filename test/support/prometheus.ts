// A strict reader of the text format of Prometheus, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). It also rejects text that
// only a lenient scraper would accept.

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const HELP = new RegExp(`^# HELP (${NAME}) (\\S.*)$`);
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge)$`);
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
const SAMPLE = new RegExp(`^(${NAME})(\\{${LABEL}(?:,${LABEL})*\\})? (-?(?:\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?))$`);

interface Scraped {
  /** Values by name and labels, verbatim. */
  readonly samples: ReadonlyMap<string, number>;
  /** Names of metrics that have samples. */
  readonly names: ReadonlySet<string>;
}

/** Throws at the first malformed line. */
export function scrape(text: string): Scraped {
  if (!text.endsWith("\n")) throw new Error("the last line does not end");
  const samples = new Map<string, number>();
  const names = new Set<string>();
  let current: { readonly name: string; isTyped: boolean } | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    const help = HELP.exec(line)?.[1];
    const type = TYPE.exec(line)?.[1];
    const [, name, labels = "", value] = SAMPLE.exec(line) ?? [];
    if (help !== undefined) {
      if (names.has(help)) throw new Error(`${help} is in two places`);
      names.add(help);
      current = { name: help, isTyped: false };
    } else if (type !== undefined) {
      if (type !== current?.name || current.isTyped) throw new Error(`TYPE of ${type} does not follow its HELP`);
      current.isTyped = true;
    } else if (name !== undefined) {
      if (name !== current?.name || !current.isTyped) throw new Error(`a sample of ${name} is not below its TYPE`);
      if (samples.has(name + labels)) throw new Error(`${name}${labels} is there twice`);
      samples.set(name + labels, Number(value));
    } else throw new Error(`no line of the format: ${line}`);
  }
  const bare = [...names].filter((name) => ![...samples.keys()].some((key) => key.split("{")[0] === name));
  if (bare.length > 0) throw new Error(`no samples: ${bare.join(", ")}`);
  return { samples, names };
}
