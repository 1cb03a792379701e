// Every citation of a page, and every link in a document, must refer to something that exists.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { brokenCitations, citationsIn, headingsOf } from "../../support/citations.ts";

const ROOT = join(import.meta.dirname, "../../..");
const FOLDERS = ["src", "test", "bench", "scripts", "client", "dashboard", "docs"];
/** This file contains invented citations, which refer to nothing. */
const THIS_FILE = "test/unit/docs/citations.test.ts";

/** Files in the root ("") or below a folder. */
function filesOf(folder: string): readonly string[] {
  const isRoot = folder === "";
  return readdirSync(join(ROOT, folder), { recursive: !isRoot, encoding: "utf8" })
    .map((path) => (isRoot ? path : `${folder}/${path.replaceAll("\\", "/")}`))
    .filter((path) => !/\/dist\/|node_modules\//.test(path));
}

describe("every citation in the project", () => {
  const files = ["", ...FOLDERS].flatMap(filesOf);
  const texts = new Map(
    files
      .filter((path) => /\.(tsx?|jsx?|mjs|py|sh|css|jsonc|md)$/.test(path) && !path.includes(".generated."))
      .filter((path) => path !== THIS_FILE)
      .map((path) => [path, readFileSync(join(ROOT, path), "utf8")]),
  );
  const pages = new Map([...texts].filter(([path]) => path.endsWith(".md")));

  it("names a page of the repository and a heading on it", () => {
    expect([...texts.values()].flatMap(citationsIn).length).toBeGreaterThan(300);
    expect(brokenCitations(texts, { pages, files })).toEqual([]);
  });
});

const DECISIONS = `# Decisions
## 4. Invoices
### Closed
## 5. Payments
### Dust
\`\`\`sh
## 6. A comment of a command
\`\`\`
`;
const PAGES = new Map([
  ["docs/design/decisions.md", DECISIONS],
  ["docs/interface.md", "## 4. Endpoints\n### 4.3 Delete a wallet\n### 4.4a Team endpoints\n"],
  ["docs/design/chains.md", "## 2. What credits an invoice\n"],
  ["docs/limits.md", "# Limits, in `numbers`\n"],
]);

const FILES = [...PAGES.keys(), "docs/picture.png", "src/commerce/wallets/store.ts"];

function brokenIn(text: string, path = "src/x.ts"): readonly string[] {
  const pages = new Map([...PAGES, ...(path.endsWith(".md") ? [[path, text] as const] : [])]);
  return brokenCitations(new Map([[path, text]]), { pages, files: FILES });
}

describe("the check of citations", () => {
  it.each([
    "decisions 4",
    "decisions 4.",
    "Decisions 4 and 5",
    'decisions 4 "Closed"',
    'decisions 4, "Closed"',
    'decisions 4 and 5 "Closed" and "Dust"',
    'it("is as decisions 4", () => {})',
    "Interface 4.3, 4.4a: so",
    "chains.md 2",
    'chains.md "What credits an invoice"',
    "docs/limits.md",
    "docs/design/chains.md 2",
    "two chains 7, security 9, interface Answer { decisions }",
    "`*.md`",
  ])("accepts %s", (text) => {
    expect(brokenIn(`// ${text}`)).toEqual([]);
  });

  it.each([
    ["decisions 6", "decisions 6 (no section 6)"],
    ["decisions 4, 6 and 5", "decisions 4, 6 and 5 (no section 6)"],
    ['decisions 4 "Dust"', 'decisions 4 "Dust" (no heading "Dust")'],
    ["Interface 4.5", "Interface 4.5 (no section 4.5)"],
    ["see chains.md 3", "chains.md 3 (no section 3)"],
    ['chains.md "Rates"', 'chains.md "Rates" (no heading "Rates")'],
    ["see absent.md", "absent.md (no such page)"],
    ["docs/design/limits.md", "docs/design/limits.md (no such page)"],
    ['chains "What credits an invoice"', 'chains "What credits an invoice" (without the ending of the page)'],
    ["ARCHITECTURE 9", "ARCHITECTURE 9 (without the ending of the page)"],
  ])("refuses %s", (text, problem) => {
    expect(brokenIn(`// ${text}`)).toEqual([`src/x.ts: ${problem}`]);
  });

  it.each([
    '// decisions 5\n// "Dust"',
    '/**\n * decisions 5, "Dust"\n */',
    '  // as in decisions\n  // 5 "Dust"',
    'As in decisions 5\n"Dust".',
  ])("follows a citation onto the next line: %j", (text) => {
    expect(citationsIn(text)).toMatchObject([{ numbers: ["5"], headings: ["Dust"] }]);
  });

  it("resolves links from the document's own folder", () => {
    const links =
      "[a](chains.md) [b](../limits.md#limits-in-numbers) [c](../picture.png) [d](#here) [e](https://x.test/y)";
    expect(brokenIn(`# Here\n${links}`, "docs/design/x.md")).toEqual([]);
    expect(brokenIn("[a](../chains.md) [b](chains.md#rates) [c](gone.png) [d](#here)", "docs/design/x.md")).toEqual([
      "docs/design/x.md: ../chains.md (no such file)",
      "docs/design/x.md: chains.md#rates (no such heading)",
      "docs/design/x.md: gone.png (no such file)",
      "docs/design/x.md: #here (no such heading)",
    ]);
  });

  it("looks for a page in the document's folder first", () => {
    expect(brokenIn('# Here\nx.md "Here", chains.md 2', "docs/guides/x.md")).toEqual([]);
    expect(brokenIn("[design/chains.md](design/chains.md), design/chains.md 2", "docs/x.md")).toEqual([]);
  });

  it("finds files that a document identifies by the ends of their paths", () => {
    const names = "`src/commerce/wallets/store.ts` `wallets/store.ts` `gone.ts` `lets/store.ts`";
    expect(brokenIn(names, "docs/x.md")).toEqual(["docs/x.md: lets/store.ts (no such file)"]);
  });

  it("numbers the anchors of identical headings, as GitHub does", () => {
    expect(headingsOf("## Why?\n### Why?\n").map(({ anchor }) => anchor)).toEqual(["why", "why-1"]);
    expect(headingsOf("## 4.3 Delete a wallet\n")).toMatchObject([{ number: "4.3", title: "Delete a wallet" }]);
  });
});
