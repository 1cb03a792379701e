// What a team demands of its members, and what a member lacks (Interface 5.6, 5.7; decisions 9). Of people only, never of API keys; the
// owner is bound like any member.
import type { Failure } from "../../platform/failures.ts";
import type { User } from "../users/user.ts";

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

/** What `user` lacks, in the order of `MISSING_FACTORS`. A provider that is not configured (any more) cannot be demanded. */
export function missingFactors(
  policy: SecurityPolicy,
  user: User,
  configured: ReadonlySet<SignInProvider>,
): readonly MissingFactor[] {
  const lacks: Readonly<Record<MissingFactor, boolean>> = {
    tfa: policy.enforceTfa && !user.hasTotp && !user.hasEmailOtp,
    passkey: policy.enforcePasskey && !user.hasPasskey,
    google_login: policy.enforceGoogleLogin && configured.has("google") && !user.hasGoogle,
    github_login: policy.enforceGithubLogin && configured.has("github") && !user.hasGithub,
    email_verified: policy.enforceEmailVerified && !user.isEmailVerified,
  };
  return MISSING_FACTORS.filter((each) => lacks[each]);
}

/** What a PATCH may say: absent keeps. */
export type PolicyChanges = { readonly [Field in keyof SecurityPolicy]?: boolean | undefined };

/** The five fields, and nothing else that `present` may hold. */
export function changedPolicy(present: SecurityPolicy, changes: PolicyChanges): SecurityPolicy {
  return {
    enforceTfa: changes.enforceTfa ?? present.enforceTfa,
    enforcePasskey: changes.enforcePasskey ?? present.enforcePasskey,
    enforceGoogleLogin: changes.enforceGoogleLogin ?? present.enforceGoogleLogin,
    enforceGithubLogin: changes.enforceGithubLogin ?? present.enforceGithubLogin,
    enforceEmailVerified: changes.enforceEmailVerified ?? present.enforceEmailVerified,
  };
}

/** Why `owner` may not make the team demand `wanted`: a provider that cannot be demanded, or what they would lock themselves out by. */
export function policyRefusal(
  of: { readonly present: SecurityPolicy; readonly wanted: SecurityPolicy },
  owner: User,
  configured: ReadonlySet<SignInProvider>,
): Failure | undefined {
  const { present, wanted } = of;
  const switchedOn: readonly (readonly [SignInProvider, boolean])[] = [
    ["google", wanted.enforceGoogleLogin && !present.enforceGoogleLogin],
    ["github", wanted.enforceGithubLogin && !present.enforceGithubLogin],
  ];
  for (const [provider, isNew] of switchedOn) {
    if (isNew && !configured.has(provider)) return { code: "PROVIDER_NOT_CONFIGURED", provider };
  }
  const missing = missingFactors(wanted, owner, configured);
  return missing.length === 0 ? undefined : { code: "OWNER_LACKS_FACTOR", missing };
}
