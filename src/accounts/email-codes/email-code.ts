// Emailed codes: their form, their lifetime, and the context of their HMAC.
import * as z from "zod";
import { lengthPrefixed } from "../../lib/bytes.ts";
import { lazily } from "../../lib/lazily.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { CODE_PURPOSES } from "../../lib/link-kinds.ts";
import { MINUTE_MS } from "../../lib/time.ts";

export type CodePurpose = (typeof CODE_PURPOSES)[number];

export const CODE_LIFETIME_MS = 10 * MINUTE_MS;
/** After this many wrong codes, even the right one is refused. */
export const MAX_TRIES = LIMITS.triesPerMailedCode;

const CODES = 100_000_000;
/** The largest multiple of the number of codes in 32 bits. Higher random numbers would make some codes likelier than others. */
const UNIFORM_BELOW = Math.floor(2 ** 32 / CODES) * CODES;

/** Eight digits from 32 random bits; undefined if the number cannot be used and another one is needed. */
export function codeOf(random32: number): string | undefined {
  return random32 < UNIFORM_BELOW ? String(random32 % CODES).padStart(8, "0") : undefined;
}

/** The input of a code's HMAC. A row that is copied to another user, browser or purpose does not verify. */
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

/** A provider's identity that is linked once the code proves access to the mailbox. */
export type PendingIdentity = Readonly<z.output<ReturnType<typeof pendingIdentity>>>;

/** Parses the identity in a code's row; throws if it is invalid. */
export function pendingIdentityIn(json: string | null): PendingIdentity | undefined {
  return json === null ? undefined : pendingIdentity().parse(JSON.parse(json));
}
