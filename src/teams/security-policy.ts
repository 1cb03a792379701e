// What a team demands of its members, and what a member lacks (Interface 5.6, 5.7; decisions 9). Of people only, never of API keys; the
// owner is bound like anybody.
import type { Person } from "../users/person.ts";

/** Providers of sign-in that the deployment has set up. */
export type SignInProvider = "google" | "github";

export interface SecurityPolicy {
  readonly enforceTfa: boolean;
  readonly enforcePasskey: boolean;
  readonly enforceGoogleLogin: boolean;
  readonly enforceGithubLogin: boolean;
  readonly enforceEmailVerified: boolean;
}

export const MISSING_FACTORS = ["tfa", "passkey", "google_login", "github_login", "email_verified"] as const;
export type MissingFactor = (typeof MISSING_FACTORS)[number];

/** What `person` lacks, in the order of `MISSING_FACTORS`. A provider that is not configured (any more) cannot be demanded. */
export function missingFactors(
  policy: SecurityPolicy,
  person: Person,
  configured: ReadonlySet<SignInProvider>,
): readonly MissingFactor[] {
  const lacks: Readonly<Record<MissingFactor, boolean>> = {
    tfa: policy.enforceTfa && !person.hasTotp && !person.hasEmailOtp,
    passkey: policy.enforcePasskey && !person.hasPasskey,
    google_login: policy.enforceGoogleLogin && configured.has("google") && !person.hasGoogle,
    github_login: policy.enforceGithubLogin && configured.has("github") && !person.hasGithub,
    email_verified: policy.enforceEmailVerified && !person.isEmailVerified,
  };
  return MISSING_FACTORS.filter((each) => lacks[each]);
}
