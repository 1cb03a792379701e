// The text of an error, and phrases that several texts share.
import type { FailureCode } from "../../src/platform/failures.ts";

export interface ErrorText {
  /** Why the request was refused. */
  readonly means: string;
  /** What to do about it. */
  readonly remedy: string;
}

export type ErrorTexts = Readonly<Partial<Record<FailureCode, ErrorText>>>;

export const WAIT = "Wait as long as `Retry-After` says, then repeat the request";
export const guide = (name: string) => `[${name}.md](${name}.md)`;
export const READ_THE_LIST = "Read the list again: it was deleted, or the id belongs to another merchant";
