// Codes sent by mail: what they look like, how long they live, and what their HMAC is bound to.
import * as z from "zod";
import { lengthPrefixed } from "../../lib/bytes.ts";
import { lazily } from "../../lib/lazily.ts";
import { LIMITS } from "../../lib/limits.ts";
import { MINUTE_MS } from "../../lib/time.ts";

export type CodePurpose = "SIGN_IN" | "SECOND_FACTOR" | "STEP_UP";

export const CODE_LIFETIME_MS = 10 * MINUTE_MS;
/** A right code after as many wrong ones is refused. */
export const MAX_TRIES = LIMITS.triesPerMailedCode;

const CODES = 100_000_000;
/** The largest multiple of the number of codes that 32 bits hold: what lies above would make some codes likelier than others. */
const UNIFORM_BELOW = Math.floor(2 ** 32 / CODES) * CODES;

/** Eight digits of 32 random bits; undefined when another draw is needed. */
export function codeOf(random32: number): string | undefined {
  return random32 < UNIFORM_BELOW ? String(random32 % CODES).padStart(8, "0") : undefined;
}

/** The text under the HMAC of a code: a row moved to another user, browser or purpose does not verify there. */
export function codeMacText(of: {
  readonly id: string;
  readonly purpose: CodePurpose;
  readonly emailKey: string;
  readonly boundTo: string;
  readonly code: string;
}): string {
  return lengthPrefixed(["email code", of.purpose, of.emailKey, of.boundTo, of.id, of.code]);
}

const pendingIdentity = lazily(() =>
  z.object({
    provider: z.enum(["google", "github"]),
    subject: z.string().min(1),
    email: z.string().nullable(),
  }),
);

/** An account elsewhere that is linked once the mailbox is proved. */
export type PendingIdentity = Readonly<z.output<ReturnType<typeof pendingIdentity>>>;

/** Reads what `JSON.stringify` wrote into a code's row; throws for anything else. */
export function pendingIdentityIn(json: string | null): PendingIdentity | undefined {
  return json === null ? undefined : pendingIdentity().parse(JSON.parse(json));
}
