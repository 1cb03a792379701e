// The security settings that a team requires of its members, and what a member is missing (Interface 5.6, 5.7; decisions 9). They apply to users,
// the owner included, never to API keys.
import type { Failure } from "../../platform/failures.ts";
import type { Factors, User } from "../users/user.ts";

/** The sign-in providers that a deployment can configure. */
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

/** The factors that an account is missing, in the order of `MISSING_FACTORS`. A provider that is not, or no longer, configured is not required. */
export function missingFactors(
  policy: SecurityPolicy,
  user: Factors,
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

/** The fields of a PATCH. A field that is left out keeps its value. */
export type PolicyChanges = { readonly [Field in keyof SecurityPolicy]?: boolean | undefined };

/** The policy after a change: exactly the five fields, without other members of `present`. */
export function changedPolicy(present: SecurityPolicy, changes: PolicyChanges): SecurityPolicy {
  return {
    enforceTfa: changes.enforceTfa ?? present.enforceTfa,
    enforcePasskey: changes.enforcePasskey ?? present.enforcePasskey,
    enforceGoogleLogin: changes.enforceGoogleLogin ?? present.enforceGoogleLogin,
    enforceGithubLogin: changes.enforceGithubLogin ?? present.enforceGithubLogin,
    enforceEmailVerified: changes.enforceEmailVerified ?? present.enforceEmailVerified,
  };
}

/** Why `owner` may not set the policy `wanted`: it newly requires a provider that is not configured, or would lock the owner out. */
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
