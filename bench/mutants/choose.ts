// Chooses the mutants of a run by a seed, spread over the files in proportion to their sites. Only mutants that the compiler accepts are chosen.
import { randomFrom } from "../../test/support/random.ts";
import type { Checker } from "./checker.ts";
import { type Site, sitesOf } from "./operators.ts";
import type { Scoped } from "./scope.ts";

export interface Mutant extends Site {
  readonly id: string;
  readonly area: string;
  readonly file: string;
  readonly line: number;
  /** The line before and after the change. */
  readonly was: string;
  readonly becomes: string;
}

export function chooseMutants(
  checker: Checker,
  files: readonly Scoped[],
  of: { readonly seed: number; readonly count: number },
): readonly Mutant[] {
  const random = randomFrom(of.seed);
  const stocks = files
    .map(({ area, file }) => {
      const { tree, text } = checker.treeOf(file);
      const sites = sitesOf(tree, text, (literal) => checker.statesAt(literal));
      return { area, file, text, sites: shuffled(sites, random) };
    })
    .filter(({ sites }) => sites.length > 0);
  const shares = sharesOf(
    stocks.map(({ sites }) => sites.length),
    of.count,
  );
  return stocks.flatMap(({ area, file, text, sites }, n) => {
    const chosen: Mutant[] = [];
    const taken = new Set<number>();
    for (const site of sites) {
      if (chosen.length === shares[n]) break;
      if (taken.has(site.start) || !checker.accepts(file, mutatedText(text, site))) continue;
      taken.add(site.start);
      const before = text.slice(0, site.start).split("\n");
      const [line, column] = [before.length, (before.at(-1)?.length ?? 0) + 1];
      const [was, becomes] = [text, mutatedText(text, site)].map((whole) => lineAt(whole, site.start));
      chosen.push({
        ...site,
        id: `${file}:${line}:${column} ${site.operator}`,
        area,
        file,
        line,
        was: was ?? "",
        becomes: becomes ?? "",
      });
    }
    return chosen;
  });
}

/** The line at the offset, trimmed. */
export function lineAt(text: string, offset: number): string {
  return text.split("\n")[text.slice(0, offset).split("\n").length - 1]?.trim() ?? "";
}

export function mutatedText(text: string, { start, end, text: by }: Site): string {
  return text.slice(0, start) + by + text.slice(end);
}

/** Divides `count` into integers in proportion to the sizes. */
function sharesOf(sizes: readonly number[], count: number): readonly number[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const exact = sizes.map((size) => (size * count) / total);
  const shares = exact.map(Math.floor);
  const byRest = exact.map((share, n) => ({ n, rest: share - Math.floor(share) })).toSorted((a, b) => b.rest - a.rest);
  const missing = count - shares.reduce((sum, share) => sum + share, 0);
  for (const { n } of byRest.slice(0, missing)) shares[n] = (shares[n] ?? 0) + 1;
  return shares;
}

export function shuffled<T>(all: readonly T[], random: () => number): readonly T[] {
  return all
    .map((each) => ({ each, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ each }) => each);
}
