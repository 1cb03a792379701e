// The shops of docs/guides/shops.md, each in docs/examples/shops. Another shop needs one more line here, a folder, and a chapter of the guide.
import { readFileSync } from "node:fs";
import { PHP, PYTHON } from "../../support/interpreters.ts";

export interface ShopOfGuide {
  /** The heading of the shop's chapter. */
  readonly name: string;
  readonly folder: string;
  /** A program that npm cannot install: if the machine has none, `npm run nodes:install` installs it. */
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

/** The commands of a chapter that start its shop: its `sh shop` block. Running them again restarts it. */
export function startOf(shop: Pick<ShopOfGuide, "name">): string {
  const blocks = blocksOf(shop, "sh shop");
  const [start, ...more] = blocks;
  if (start === undefined || more.length > 0) throw new Error(`${GUIDE}: ${blocks.length} blocks start ${shop.name}`);
  return start;
}

/** Commands that are run once before the start, from the `sh install` blocks; none if `npm ci` installs the shop. */
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

/** The path of the shop's program; undefined if it is missing or not needed. */
export function programOf({ program }: ShopOfGuide): string | undefined {
  return program === undefined ? undefined : PROGRAMS[program];
}

/** Whether the shop's tests run: without its program they are skipped, except in CI, where they fail. */
export function isTested(shop: ShopOfGuide): boolean {
  return shop.program === undefined || programOf(shop) !== undefined || Boolean(process.env.CI);
}

/** The shop's name; if its tests are skipped, with the reason. */
export function nameOf(shop: ShopOfGuide): string {
  return isTested(shop) ? shop.name : `${shop.name} (no ${shop.program} here: npm run nodes:install brings it)`;
}
