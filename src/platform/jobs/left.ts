/** What a run of a scheduled job leaves to the next one: `more` where it stopped at its bound. */
export type Left = "nothing" | "more";
