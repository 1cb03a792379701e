/** How often a property runs: `usual` times, `deep` times in the deep suite (reliability.md 6), and a tenth of `usual` in `npm run test:quick`. */
export function triesOf({ usual, deep }: { readonly usual: number; readonly deep: number }): number {
  if (process.env.DEEP) return deep;
  return process.env.QUICK ? Math.ceil(usual / 10) : usual;
}

/** The number of runs of each property. */
export const RUNS = triesOf({ usual: 1_000, deep: 100_000 });
