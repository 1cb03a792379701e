// Extracts commands and steps from the pages of docs/operations, so that the twin runs what an operator would copy.

/** The arguments after `npm run wrangler --` in a page's code; placeholders for the reader's values are filled in. */
export function commandsIn(text: string, name: string): readonly string[] {
  const joined = text.replaceAll(/\\\n\s*/g, "");
  const found = joined.matchAll(/npm run (?:--silent )?wrangler -- ((?:"[^"]*"|[^`"\n])+)/g);
  return [...found].map(([, words = ""]) =>
    words.trim().replaceAll("<name>", name).replaceAll("<SECRET>", "MAIL_PROVIDER"),
  );
}

export const argumentsOf = (command: string) =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

/** The lists of key ids that the page's table sets as `MASTER_KEY`, newest first, in the order of its steps. */
export function keyStepsIn(page: string): readonly (readonly string[])[] {
  const rows = page.matchAll(/^\| \d\. [^|]+\| `((?:k\d+:…,?)+)` \|/gm);
  return [...rows].map(([, list = ""]) => list.split(",").map((key) => key.split(":")[0] ?? ""));
}
