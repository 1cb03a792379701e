// The text of a limit, and phrases that several texts share.
import type { LimitName } from "../../src/lib/limits.ts";

export interface LimitText {
  /** What is counted, and over what period. */
  readonly counts: string;
  /** Whom the limit protects. */
  readonly protects: string;
  /** What the refused caller sees. */
  readonly refusal: string;
  /** The setting that changes the limit, and where to find it; "none" if the limit is fixed. */
  readonly setting: string;
}

export type LimitTexts = Readonly<Partial<Record<LimitName, LimitText>>>;

export const REACHED = "422 `LIMIT_REACHED`";
export const CODES_REFUSED = "429 `RATE_LIMITED`, for known and unknown addresses alike";
export const TOO_OFTEN = "429 `RATE_LIMITED` with `Retry-After`";
