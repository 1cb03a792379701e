// What came of a form, carried through the redirect behind it in the page's address: nothing is kept for it, and it may be loaded again.

export const NOTES = [
  "claim-found",
  "claim-not-found",
  "claim-unavailable",
  "claim-invalid",
  "claim-too-many",
  "rate",
  "taken",
  "network",
  "closed",
  "frozen",
  "too-many",
  "other",
] as const;

/** Those of `claim-` are about a claim, the others about why a way to pay could not be picked. */
export type Note = (typeof NOTES)[number];
