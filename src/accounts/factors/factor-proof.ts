// The factors with which a user proves their identity again, and which kinds count where.
import type { Failure } from "../../platform/failures.ts";
import type { Assertion } from "../passkeys/credential.ts";
import type { FactorGiven, FactorName, ProvedSession } from "../sessions/session.ts";
import { secondFactorsOf, stepUpFactorsOf } from "../sessions/session.ts";
import type { User } from "../users/user.ts";

/** To settle what a sign-in still owes, or to change something that is protected. */
export type FactorPurpose = "SECOND_FACTOR" | "STEP_UP";

export type FactorProof =
  | { readonly factor: Exclude<FactorName, "passkey">; readonly code: string }
  | { readonly factor: "passkey"; readonly credential: Assertion };

/** The factors that count. No factor settles a sign-in that owes none: an active session steps up instead. */
export function factorsFor(
  purpose: FactorPurpose,
  { user, session }: { readonly user: User; readonly session: ProvedSession },
): readonly FactorName[] {
  if (purpose === "STEP_UP") return stepUpFactorsOf(user);
  return session.state === "PENDING_2FA" ? secondFactorsOf(user) : [];
}

/** The kind of code that a text looks like; the three do not overlap. */
export function codeKindOf(code: string): Exclude<FactorName, "passkey"> {
  if (/^\d{6}$/.test(code)) return "totp";
  return /^\d{8}$/.test(code) ? "email_code" : "backup_code";
}

const GIVEN: Readonly<Record<FactorName, FactorGiven>> = {
  passkey: "PASSKEY",
  totp: "TOTP",
  backup_code: "BACKUP_CODE",
  email_code: "EMAIL_CODE",
};

/** As a session keeps it. */
export function factorGiven(name: FactorName): FactorGiven {
  return GIVEN[name];
}

/** The refusal of a factor that is wrong, expired or used. */
export function wrongFactor(name: FactorName): Failure {
  return { code: name === "passkey" ? "PASSKEY_REFUSED" : "INVALID_CODE" };
}
