// An account at an external provider. It is identified by the provider and a subject that the provider never reassigns, and never by an email
// address.
import type { SignInProvider } from "../security-policies/security-policy.ts";

export interface IdentityKey {
  readonly provider: SignInProvider;
  /** The provider's id of the account: Google's `sub`, GitHub's number. */
  readonly subject: string;
}

/** An identity that its provider has confirmed in this request. */
export interface ProvedIdentity extends IdentityKey {
  /** An address that the provider has verified. */
  readonly email: string;
}

/** The target of an audit entry about an identity. */
export function identityTarget(of: IdentityKey): string {
  return `${of.provider}:${of.subject}`;
}

/** Why a sign-in with a provider failed. */
export type ProviderProblem =
  /** `reason` is for the user, in our own words: it repeats nothing from outside. */
  | { readonly kind: "REFUSED"; readonly reason: string }
  /** `problem` is for the operator's log, in our own words. */
  | { readonly kind: "UNAVAILABLE"; readonly problem: string };
