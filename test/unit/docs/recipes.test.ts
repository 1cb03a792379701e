// Compares CONTRIBUTING.md with the repository: everything that it names must exist, and each recipe must name every file that contains its example.
import { existsSync, globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CRYPTO_CODES, NETWORKS } from "../../../src/chains/registry/networks.ts";
import { combine } from "../../../src/rates/quote.ts";

const PAGES = ["CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
const contributing = readFileSync("CONTRIBUTING.md", "utf8");
const scripts: object = JSON.parse(readFileSync("package.json", "utf8")).scripts;
const sources = new Map(
  globSync("src/**/*.{ts,tsx,jsonc}").map((path) => [path.replaceAll("\\", "/"), readFileSync(path, "utf8")]),
);

const ROOTS = /^(src|test|docs|scripts|client|migrations|bench|static|\.ci)\//;
/** Paths in backticks, without placeholders (`<noun>`). */
function pathsIn(text: string): readonly string[] {
  const quoted = [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, each = ""]) => each);
  return quoted.filter((each) => ROOTS.test(each) && !/[<*\s]/.test(each));
}

/** Relative links; an anchor alone leads to a heading of the same page. */
function linksIn(text: string): readonly string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => (link.includes("://") ? [] : link));
}

function anchorsOf(text: string): readonly string[] {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading.toLowerCase());
  return headings.map((heading) => `#${heading.replaceAll(/[^\p{L}\d _-]/gu, "").replaceAll(" ", "-")}`);
}

describe.each(PAGES)("%s", (page) => {
  const text = readFileSync(page, "utf8");

  it("names only files and folders that exist", () => {
    expect(pathsIn(text).filter((path) => !existsSync(path))).toEqual([]);
  });

  it("links only to pages and headings that exist", () => {
    const anchors = anchorsOf(text);
    // citations.test.ts checks the headings of other pages.
    const isBroken = (link: string) =>
      link.startsWith("#") ? !anchors.includes(link) : !existsSync(link.replace(/#.*/, ""));
    expect(linksIn(text).filter(isBroken)).toEqual([]);
  });

  it("names only npm scripts that exist", () => {
    const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});

interface Recipe {
  readonly title: string;
  /** Text of the example that every file of the recipe contains. */
  readonly mentions: RegExp;
  /** Text that no other file of `src` may contain. By default this is `mentions`; a narrower pattern is given if its words have other uses. */
  readonly only?: RegExp;
  /** Recipes whose files may contain the text too, because a coin may have the name of its network. */
  readonly besides?: readonly string[];
}

const RECIPES: readonly Recipe[] = [
  { title: "Add a network", mentions: /\bPOL\b|\bETH_SEPOLIA\b/, only: /\bPOL\b/, besides: ["Add a coin"] },
  { title: "Add a coin", mentions: /\bEURC\b|\d+ cryptocurrencies/, only: /\bEURC\b/ },
  { title: "Add an event", mentions: /\bmember_joined\b/ },
  { title: "Add a route", mentions: /\b(getSettings|settings\w*)\b/i, only: /\bgetSettings\b/ },
  { title: "Add a merchant setting", mentions: /\bmailReceiptsToMerchant\b/ },
  { title: "Add a language", mentions: /\btr(: |\.jsonc)|"tr"|"payTo"/, only: /^\s*tr: |\/tr\.jsonc/m },
];

/** Files and folders in the first column of a recipe's table. */
function filesOf(title: string): readonly string[] {
  const [, section = ""] = contributing.split(`\n### ${title}\n`);
  const [body = ""] = section.split(/\n##/);
  return [...body.matchAll(/^\| (`[^`]+`) \|/gm)].flatMap(([, path = ""]) => pathsIn(path));
}

function hasMention(path: string, mentions: RegExp): boolean {
  const files = path.endsWith("/") ? globSync(`${path}**/*.ts`) : [path];
  return files.some((file) => mentions.test(readFileSync(file, "utf8")));
}

describe.each(RECIPES)("the recipe $title", ({ title, mentions, only = mentions, besides = [] }) => {
  it("names only files that contain its example", () => {
    const files = filesOf(title);
    expect(files.length).toBeGreaterThan(3);
    expect(files.filter((path) => !hasMention(path, mentions))).toEqual([]);
  });

  it("names every file of src that contains its example", () => {
    const named = [title, ...besides].flatMap(filesOf);
    const having = [...sources].filter(([, text]) => only.test(text)).map(([path]) => path);
    expect(having.length).toBeGreaterThan(0);
    expect(having.filter((path) => !named.some((each) => path === each || isBelow(path, each)))).toEqual([]);
  });
});

const isBelow = (path: string, folder: string) => folder.endsWith("/") && path.startsWith(folder);

it("every recipe on the page is checked", () => {
  const [, recipes = ""] = contributing.split("\n## Recipes\n");
  const titles = [...recipes.matchAll(/^### (.+)$/gm)].map(([, title]) => title);
  expect(titles).toEqual(RECIPES.map(({ title }) => title));
});

describe("every coin has everything that the recipe Add a coin asks for", () => {
  it.each(["src/checkout/pay/coins.ts", "src/rates/fixed-rates.ts", "src/rates/kraken-client.ts"])(
    "an entry in %s",
    (path) => {
      expect(filesOf("Add a coin")).toContain(path);
      const text = sources.get(path) ?? "";
      expect(CRYPTO_CODES.filter((code) => !new RegExp(`^  ${code}: `, "m").test(text))).toEqual([]);
    },
  );

  it("including a peg for each stablecoin, so that a price of half a dollar gives it no rate", () => {
    const [nowMs, usd] = [Date.UTC(2026, 10, 20), "0.5"];
    const prices = ["a", "b"].flatMap((source) => CRYPTO_CODES.map((asset) => ({ source, asset, usd, atMs: nowMs })));
    const fiat = [{ source: "bank", code: "EUR", perUsd: "0.9", dateMs: nowMs }];
    const stable = NETWORKS.flatMap(({ assets }) => assets.flatMap(({ code, isStable }) => (isStable ? code : [])));
    const priced = Object.keys(combine({ prices, fiat }, nowMs).assets);
    expect(priced.toSorted()).toEqual(CRYPTO_CODES.filter((code) => !stable.includes(code)).toSorted());
  });
});
