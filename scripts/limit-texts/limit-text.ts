// The text of a limit, and phrases that several share.
import type { LimitName } from "../../src/lib/limits.ts";

export interface LimitText {
  /** What is counted, and over what. */
  readonly counts: string;
  /** Who is protected by the limit. */
  readonly protects: string;
  /** What the refused caller sees. */
  readonly refusal: string;
  /** The setting that changes it, with its home; "none" if it is fixed. */
  readonly setting: string;
}

export type LimitTexts = Readonly<Partial<Record<LimitName, LimitText>>>;

export const REACHED = "422 `LIMIT_REACHED`";
export const CODES_REFUSED = "429 `RATE_LIMITED`, for known and unknown addresses alike";
export const TOO_OFTEN = "429 `RATE_LIMITED` with `Retry-After`";
