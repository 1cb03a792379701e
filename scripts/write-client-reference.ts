// Writes docs/client (`npm run client:docs`) from the types of the client and their comments. With --check only reports whether the pages are
// current.
import { mkdirSync } from "node:fs";
import { referencePages } from "../client/scripts/reference.ts";
import { keepGenerated } from "./generated-file.ts";

const PAGES: Readonly<Record<string, { readonly file: string; readonly introduction: string }>> = {
  edgetill: {
    file: "client/edgetill.ts",
    introduction: `Everything that \`import … from "edgetill"\` gives, by name. How to use it is in [its README](../../client/README.md), what each error code
means in [errors](../guides/errors.md), and every event in [events](../events.md). Amounts of a currency are decimal texts with six fraction digits,
amounts of a coin decimal texts in whole coins, times ISO 8601 in UTC. Every method throws what \`EdgetillError\`, \`EdgetillConnectionError\`
and \`EdgetillTimeoutError\` say, or the reason of its \`signal\`.`,
  },
  testing: {
    file: "client/testing.ts",
    introduction: `Everything that \`import … from "edgetill/testing"\` gives: the fake of the API for your own tests. [How to use it](../../client/README.md#testing).`,
  },
};

mkdirSync("docs/client", { recursive: true });
const made = referencePages(Object.fromEntries(Object.entries(PAGES).map(([name, { file }]) => [name, file])));
for (const [name, { introduction }] of Object.entries(PAGES)) {
  const title = name === "edgetill" ? "edgetill" : `edgetill/${name}`;
  const head = `<!-- Written by \`npm run client:docs\` from the types of the client; do not edit. -->\n# ${title}`;
  const text = `${head}\n\n${introduction}\n\n${made[name]}\n`;
  keepGenerated({ file: `docs/client/${name}.md`, text, command: "npm run client:docs", isFormatted: true });
}
