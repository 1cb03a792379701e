// The factors with which a user confirms their identity again, and for which purpose each kind counts.
import type { Failure } from "../../platform/failures.ts";
import type { Assertion } from "../passkeys/credential.ts";
import type { FactorName, ProvedSession } from "../sessions/session.ts";
import { secondFactorsOf, stepUpFactorsOf } from "../sessions/session.ts";
import type { User } from "../users/user.ts";

/** What a factor is given for: to complete a sign-in, or to make a protected change. */
export type FactorPurpose = "SECOND_FACTOR" | "STEP_UP";

export type FactorProof =
  | { readonly factor: Exclude<FactorName, "passkey">; readonly code: string }
  | { readonly factor: "passkey"; readonly credential: Assertion };

/** The factors that count for a purpose. None for SECOND_FACTOR in an active session, which needs no second factor but can step up. */
export function factorsFor(
  purpose: FactorPurpose,
  { user, session }: { readonly user: User; readonly session: ProvedSession },
): readonly FactorName[] {
  if (purpose === "STEP_UP") return stepUpFactorsOf(user);
  return session.state === "PENDING_2FA" ? secondFactorsOf(user) : [];
}

/** The kind of a code by its form; the three forms do not overlap. */
export function codeKindOf(code: string): Exclude<FactorName, "passkey"> {
  if (/^\d{6}$/.test(code)) return "totp";
  return /^\d{8}$/.test(code) ? "email_code" : "backup_code";
}

/** The refusal of a factor that is wrong, expired or used. */
export function wrongFactor(name: FactorName): Failure {
  return { code: name === "passkey" ? "PASSKEY_REFUSED" : "INVALID_CODE" };
}
