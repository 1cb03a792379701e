// What a team may require of its members' accounts.
import type { ListedMember, TeamSecurity } from "../api/operations.ts";

export type MissingFactor = ListedMember["missing"][number];

interface Words {
  readonly field: keyof TeamSecurity;
  readonly name: string;
  /** As in `lacks a passkey`. */
  readonly noun: string;
  readonly about: string;
  /** The deployment must support it. */
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
    about: "A linked account, so your company's rules for it apply.",
    provider: "google",
  },
  github_login: {
    field: "enforceGithubLogin",
    name: "GitHub account",
    noun: "a GitHub account",
    about: "A linked account, so your organisation's rules for it apply.",
    provider: "github",
  },
  email_verified: {
    field: "enforceEmailVerified",
    name: "Verified email address",
    noun: "a verified email address",
    about: "They have proved that they can read emails sent to it.",
  },
};
