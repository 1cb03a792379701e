/** Safeguards that the drill takes away, one at a time, to show that it notices (`npm run drill`). For development only. */
export const SAFEGUARDS = ["directory", "revocations", "epoch-gate", "sequence-skip", "cursor"] as const;
export type Safeguard = (typeof SAFEGUARDS)[number];

/** Whether it is in place: always, but where DRILL_WITHOUT names it. */
export function isSafeguarded(setting: string | undefined, safeguard: Safeguard): boolean {
  return (setting ?? "").trim() !== safeguard;
}
