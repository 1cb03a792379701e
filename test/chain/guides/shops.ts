// The shops of docs/guides/shops.md, each in docs/examples/shops. One more shop is one more line here, a folder, and a chapter of the guide.
import { readFileSync } from "node:fs";
import { PHP, PYTHON } from "../../support/interpreters.ts";

export interface ShopOfGuide {
  /** The heading of its chapter. */
  readonly name: string;
  readonly folder: string;
  /** Available in Debian but not in npm: `npm run nodes:install` installs it if the machine has none. */
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

/** Commands run once before, from the `sh install` blocks; none if `npm ci` installs it. */
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

/** The path of its program; undefined if that is missing or not needed. */
export function programOf({ program }: ShopOfGuide): string | undefined {
  return program === undefined ? undefined : PROGRAMS[program];
}

/** Whether its tests run: without its program they are skipped, except in CI, where they fail. */
export function isTested(shop: ShopOfGuide): boolean {
  return shop.program === undefined || programOf(shop) !== undefined || Boolean(process.env.CI);
}

/** For the name of a skipped test. */
export function nameOf(shop: ShopOfGuide): string {
  return isTested(shop) ? shop.name : `${shop.name} (no ${shop.program} here: npm run nodes:install brings it)`;
}
