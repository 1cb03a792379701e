// The factors that a team may require of its members' accounts.
import type { ListedMember, TeamSecurity } from "../api/operations.ts";

export type MissingFactor = ListedMember["missing"][number];

interface Words {
  readonly field: keyof TeamSecurity;
  readonly name: string;
  /** Completes a phrase such as `lacks a passkey`. */
  readonly noun: string;
  readonly about: string;
  /** The sign-in provider that must be configured before a team can require the factor. */
  readonly provider?: "google" | "github";
}

export const FACTORS: Readonly<Record<MissingFactor, Words>> = {
  tfa: {
    field: "enforceTfa",
    name: "Second factor",
    noun: "a second factor",
    about: "An authenticator app or email codes at every sign-in.",
  },
  passkey: {
    field: "enforcePasskey",
    name: "Passkey",
    noun: "a passkey",
    about: "A fingerprint, face or security key, which cannot be phished.",
  },
  google_login: {
    field: "enforceGoogleLogin",
    name: "Google account",
    noun: "a Google account",
    about: "A linked Google account, so your company's sign-in rules apply.",
    provider: "google",
  },
  github_login: {
    field: "enforceGithubLogin",
    name: "GitHub account",
    noun: "a GitHub account",
    about: "A linked GitHub account, so your organisation's sign-in rules apply.",
    provider: "github",
  },
  email_verified: {
    field: "enforceEmailVerified",
    name: "Verified email address",
    noun: "a verified email address",
    about: "The member has confirmed their email address.",
  },
};
