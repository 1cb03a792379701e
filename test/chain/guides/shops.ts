// The shops of docs/guides/shops.md, each in docs/examples/shops. One more shop is one more line here, a folder, and a chapter of the guide.
import { readFileSync } from "node:fs";
import { PHP, PYTHON } from "../../support/interpreters.ts";

export interface ShopOfGuide {
  /** The heading of its chapter. */
  readonly name: string;
  readonly folder: string;
  /** What Debian has and npm does not: `npm run nodes:install` brings it where the machine has none. */
  readonly program?: "php" | "python3";
}

export const SHOPS: readonly ShopOfGuide[] = [
  { name: "Express", folder: "express" },
  { name: "Hono", folder: "hono" },
  { name: "Next.js", folder: "next" },
  { name: "Cloudflare Workers", folder: "workers" },
  { name: "PHP", folder: "php", program: "php" },
  { name: "Python", folder: "python", program: "python3" },
];

export const GUIDE = "docs/guides/shops.md";
export const FOLDER = "docs/examples/shops";

/** The commands of a chapter that start its shop: its block that is marked `sh shop`. They are run again to start it again. */
export function startOf(shop: Pick<ShopOfGuide, "name">): string {
  const blocks = blocksOf(shop, "sh shop");
  const [start, ...more] = blocks;
  if (start === undefined || more.length > 0) throw new Error(`${GUIDE}: ${blocks.length} blocks start ${shop.name}`);
  return start;
}

/** The commands that are run once before, from the blocks that are marked `sh install`; none for what `npm ci` has installed. */
export function installOf(shop: Pick<ShopOfGuide, "name">): string {
  return blocksOf(shop, "sh install").join("");
}

function blocksOf({ name }: Pick<ShopOfGuide, "name">, kind: string): readonly string[] {
  const chapters = readFileSync(GUIDE, "utf8").split(/^## /m);
  const chapter = chapters.find((each) => each.startsWith(`${name}\n`)) ?? "";
  const blocks = [...chapter.matchAll(/^```([^\n]*)\n(.*?)^```$/gms)];
  return blocks.flatMap(([, marked, commands = ""]) => (marked === kind ? [commands] : []));
}

const PROGRAMS = { php: PHP, python3: PYTHON } as const;

/** What its commands mean by the name of its program; undefined where that is missing, or where they need none. */
export function programOf({ program }: ShopOfGuide): string | undefined {
  return program === undefined ? undefined : PROGRAMS[program];
}

/** Whether it is to be tested: without its program it is skipped, but for CI, where it fails. */
export function isTested(shop: ShopOfGuide): boolean {
  return shop.program === undefined || programOf(shop) !== undefined || Boolean(process.env.CI);
}

/** For the name of a test that is skipped. */
export function nameOf(shop: ShopOfGuide): string {
  return isTested(shop) ? shop.name : `${shop.name} (no ${shop.program} here: npm run nodes:install brings it)`;
}
