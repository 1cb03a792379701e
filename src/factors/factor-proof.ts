// What a person gives to prove again that it is them, and which kinds count where (security.md 1).
import type { Failure } from "../failures.ts";
import type { Assertion } from "../passkeys/credential.ts";
import type { FactorGiven, FactorName, ProvedSession } from "../sessions/session.ts";
import { secondFactorsOf, stepUpFactorsOf } from "../sessions/session.ts";
import type { Person } from "../users/person.ts";

/** To settle what a sign-in still owes, or to change something that is protected. */
export type FactorPurpose = "SECOND_FACTOR" | "STEP_UP";

export type FactorProof =
  | { readonly factor: Exclude<FactorName, "passkey">; readonly code: string }
  | { readonly factor: "passkey"; readonly credential: Assertion };

/** The factors that count. Where no second factor is owed none is: an active session steps up instead. */
export function factorsFor(
  purpose: FactorPurpose,
  { person, session }: { readonly person: Person; readonly session: ProvedSession },
): readonly FactorName[] {
  if (purpose === "STEP_UP") return stepUpFactorsOf(person);
  return session.state === "PENDING_2FA" ? secondFactorsOf(person) : [];
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

/** What a factor that is wrong, expired or used is told. */
export function wrongFactor(name: FactorName): Failure {
  return { code: name === "passkey" ? "PASSKEY_REFUSED" : "INVALID_CODE" };
}
