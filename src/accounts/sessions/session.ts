// A signed-in browser: how long it lives, when a second factor is owed, and when a user must prove their identity again.
import type { SessionId, UserId } from "../../lib/ids.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/time.ts";
import type { User } from "../users/user.ts";

export const SESSION_IDLE_MS = 7 * DAY_MS;
export const SESSION_LIFETIME_MS = 30 * DAY_MS;
/** How long a second factor may be owed: long enough to find it, and to wait out a lock of wrong ones. */
export const PENDING_LIFETIME_MS = HOUR_MS;
/** How long a factor counts as just given. */
export const STEP_UP_MS = 5 * MINUTE_MS;
/** How often the last use of a session is noted. */
export const TOUCH_MS = 5 * MINUTE_MS;

export type SessionState = "ACTIVE" | "PENDING_2FA";
export type SignInMethod = "EMAIL_CODE" | "GOOGLE" | "GITHUB" | "PASSKEY";
export type FactorGiven = "EMAIL_CODE" | "TOTP" | "BACKUP_CODE" | "PASSKEY";
/** Names of factors on the wire. */
export type FactorName = "passkey" | "totp" | "backup_code" | "email_code";

export interface Session {
  readonly id: SessionId;
  readonly userId: UserId;
  readonly state: SessionState;
  readonly signedInWith: SignInMethod;
  readonly factor: FactorGiven | null;
  readonly factorAtMs: number | null;
  readonly createdAtMs: number;
  readonly lastSeenAtMs: number;
  readonly revokedAtMs: number | null;
}

/** A session as it was proved: with the hash of the token that proved it. */
export interface ProvedSession extends Session {
  readonly tokenHash: string;
}

/** When it ends if nothing is asked in it: 7 days idle, 30 days in all, an hour while a second factor is owed. */
export function sessionEndMs(session: Pick<Session, "state" | "createdAtMs" | "lastSeenAtMs">): number {
  const lifetimeMs = session.state === "PENDING_2FA" ? PENDING_LIFETIME_MS : SESSION_LIFETIME_MS;
  return Math.min(session.lastSeenAtMs + SESSION_IDLE_MS, session.createdAtMs + lifetimeMs);
}

export function isSessionLive(session: Session, nowMs: number): boolean {
  return session.revokedAtMs === null && nowMs < sessionEndMs(session);
}

/** What a fresh session begins as: a second factor is owed unless a passkey, which verifies the user, signed in. */
export function stateAtSignIn(user: Pick<User, "hasTotp" | "hasEmailOtp">, method: SignInMethod): SessionState {
  return method !== "PASSKEY" && (user.hasTotp || user.hasEmailOtp) ? "PENDING_2FA" : "ACTIVE";
}

/** What settles `PENDING_2FA`, in the order to offer it. */
export function secondFactorsOf(user: User): readonly FactorName[] {
  return [
    ...(user.hasPasskey ? (["passkey"] as const) : []),
    ...(user.hasTotp ? (["totp", "backup_code"] as const) : []),
    ...(user.hasEmailOtp ? (["email_code"] as const) : []),
  ];
}

/** The factors of a user's step-up: a passkey or TOTP where they have one; a mailed code only where they have neither. */
export function stepUpFactorsOf(user: User): readonly FactorName[] {
  if (!user.hasPasskey && !user.hasTotp) return ["email_code"];
  return secondFactorsOf({ ...user, hasEmailOtp: false });
}

const NAME_OF: Readonly<Record<FactorGiven, FactorName>> = {
  EMAIL_CODE: "email_code",
  TOTP: "totp",
  BACKUP_CODE: "backup_code",
  PASSKEY: "passkey",
};

/** Whether a factor that this user steps up with was given in the last 5 minutes, at sign-in or since. */
export function isSteppedUp(session: Session, user: User, nowMs: number): boolean {
  const { factor, factorAtMs } = session;
  if (factor === null || factorAtMs === null || nowMs >= factorAtMs + STEP_UP_MS) return false;
  return stepUpFactorsOf(user).includes(NAME_OF[factor]);
}

/** On the wire. */
export function stateText(state: SessionState): "active" | "pending_2fa" {
  return state === "ACTIVE" ? "active" : "pending_2fa";
}

const METHOD_TEXTS = { EMAIL_CODE: "email_code", GOOGLE: "google", GITHUB: "github", PASSKEY: "passkey" } as const;

/** On the wire. */
export function methodText(method: SignInMethod): (typeof METHOD_TEXTS)[SignInMethod] {
  return METHOD_TEXTS[method];
}
