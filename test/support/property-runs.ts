/** Runs of each property: 1,000, or 100,000 in the deep suite (reliability.md 6). */
export const RUNS = process.env.DEEP ? 100_000 : 1_000;
