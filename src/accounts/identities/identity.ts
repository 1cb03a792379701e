// An account at an external provider, identified by the provider and a subject that it never reassigns; never by an email.
import type { SignInProvider } from "../teams/security-policy.ts";

export interface IdentityKey {
  readonly provider: SignInProvider;
  /** As the provider names its account: Google's `sub`, GitHub's number. */
  readonly subject: string;
}

/** An identity that its provider vouched for in this request. */
export interface ProvedIdentity extends IdentityKey {
  /** One that the provider verified. */
  readonly email: string;
}

/** How the audit log names an identity. */
export function identityTarget(of: IdentityKey): string {
  return `${of.provider}:${of.subject}`;
}

/** Why a provider's answer was not accepted. */
export type ProviderProblem =
  /** `reason` in our own words, for the user: it repeats nothing from outside. */
  | { readonly kind: "REFUSED"; readonly reason: string }
  /** `problem` is for the operator's log, in our own words. */
  | { readonly kind: "UNAVAILABLE"; readonly problem: string };
