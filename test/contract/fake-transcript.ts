// Makes the answers of two runs comparable: whatever differs between runs is replaced by names, in order of appearance.

/** One answer in a stage's transcript. */
export interface Written {
  readonly request: string;
  readonly status: number;
  readonly isReplay: boolean;
  readonly body: unknown;
  readonly baseUrl: string;
}

const ID = /\b[a-z]{3}_[0-9A-Z]{26}\b/g;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
/** Members whose value only a chain or a clock determines; null stays null. */
const NAMED: readonly string[] = [
  "requestId",
  "txHash",
  "fromAddress",
  "blockHeight",
  "confirmations",
  "outputIndex",
  "hash",
  "height",
  "raw",
  "secret",
  "secretKeyPreview",
  "toAddress",
];

/** A transcript without the values that differ between runs. */
export function normalized(transcript: readonly Written[]): readonly unknown[] {
  const names = new Map<string, string>();
  return transcript.map(({ request, status, isReplay, body, baseUrl }) => {
    const shown = (text: string) => named(text.replaceAll(baseUrl, "<origin>"), names);
    return {
      request: shown(request).replace(/cursor=[\w-]+/, "cursor=<cursor>"),
      status,
      isReplay,
      body: plain(body, shown),
    };
  });
}

function named(text: string, names: Map<string, string>): string {
  return text.replace(ID, (id) => {
    const known = names.get(id);
    if (known !== undefined) return known;
    const prefix = id.slice(0, 3);
    const count = [...names.values()].filter((name) => name.startsWith(`${prefix}#`)).length;
    const name = prefix === "req" ? "req" : `${prefix}#${count + 1}`;
    names.set(id, name);
    return name;
  });
}

function plain(value: unknown, shown: (text: string) => string, member = ""): unknown {
  if (value !== null && NAMED.includes(member)) return `<${member}>`;
  if (typeof value === "string") {
    if (TIME.test(value)) return "<time>";
    return member === "nextCursor" && !/^[a-z]{3}_/.test(value) ? "<cursor>" : shown(value);
  }
  if (Array.isArray(value)) return value.map((each) => plain(each, shown));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each, shown, name)]));
}
