/** Whether a run of a scheduled job leaves work to the next one: `more` if it stopped at its bound. */
export type Left = "nothing" | "more";
