// A session of a signed-in browser: how long it lasts, when it needs a second factor, and when the user must confirm their identity again.
import type { SessionId, UserId } from "../../lib/ids.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/time.ts";
import type { User } from "../users/user.ts";

export const SESSION_IDLE_MS = 7 * DAY_MS;
export const SESSION_LIFETIME_MS = 30 * DAY_MS;
/** How long a session may stay without its second factor: long enough to find the factor, and to wait until a limit on wrong factors ends. */
export const PENDING_LIFETIME_MS = HOUR_MS;
/** How long a factor counts for step-up. */
export const STEP_UP_MS = 5 * MINUTE_MS;
/** The minimum time between two updates of a session's time of last use. */
export const TOUCH_MS = 5 * MINUTE_MS;

export type SessionState = "ACTIVE" | "PENDING_2FA";
export type SignInMethod = "EMAIL_CODE" | "GOOGLE" | "GITHUB" | "PASSKEY";
export type FactorGiven = "EMAIL_CODE" | "TOTP" | "BACKUP_CODE" | "PASSKEY";
/** Names of factors in the API. */
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

/** An authenticated session, with the hash of its token. */
export interface ProvedSession extends Session {
  readonly tokenHash: string;
}

/** When the session ends if it is not used: after 7 days idle, 30 days in total, or an hour while its second factor is pending. */
export function sessionEndMs(session: Pick<Session, "state" | "createdAtMs" | "lastSeenAtMs">): number {
  const lifetimeMs = session.state === "PENDING_2FA" ? PENDING_LIFETIME_MS : SESSION_LIFETIME_MS;
  return Math.min(session.lastSeenAtMs + SESSION_IDLE_MS, session.createdAtMs + lifetimeMs);
}

export function isSessionLive(session: Session, nowMs: number): boolean {
  return session.revokedAtMs === null && nowMs < sessionEndMs(session);
}

/**
 * The state of a new session. If the user has a second factor, the session needs it, unless they signed in with a passkey, which verifies the user.
 */
export function stateAtSignIn(user: Pick<User, "hasTotp" | "hasEmailOtp">, method: SignInMethod): SessionState {
  return method !== "PASSKEY" && (user.hasTotp || user.hasEmailOtp) ? "PENDING_2FA" : "ACTIVE";
}

/** The factors that complete `PENDING_2FA`, in the order in which to offer them. */
export function secondFactorsOf(user: User): readonly FactorName[] {
  return [
    ...(user.hasPasskey ? (["passkey"] as const) : []),
    ...(user.hasTotp ? (["totp", "backup_code"] as const) : []),
    ...(user.hasEmailOtp ? (["email_code"] as const) : []),
  ];
}

/** The factors for a user's step-up: a passkey, TOTP or backup code if they have a passkey or an app; an emailed code only if they have neither. */
export function stepUpFactorsOf(user: User): readonly FactorName[] {
  if (!user.hasPasskey && !user.hasTotp) return ["email_code"];
  return secondFactorsOf({ ...user, hasEmailOtp: false });
}

const GIVEN: Readonly<Record<FactorName, FactorGiven>> = {
  passkey: "PASSKEY",
  totp: "TOTP",
  backup_code: "BACKUP_CODE",
  email_code: "EMAIL_CODE",
};

/** How the factor is stored in a session. */
export function factorGiven(name: FactorName): FactorGiven {
  return GIVEN[name];
}

/** Whether a factor that counts for this user's step-up was given in the last 5 minutes, at sign-in or later. */
export function isSteppedUp(session: Session, user: User, nowMs: number): boolean {
  const { factor, factorAtMs } = session;
  if (factor === null || factorAtMs === null || nowMs >= factorAtMs + STEP_UP_MS) return false;
  return stepUpFactorsOf(user).some((name) => GIVEN[name] === factor);
}

/** The session's state, as the API names it. */
export function stateText(state: SessionState): "active" | "pending_2fa" {
  return state === "ACTIVE" ? "active" : "pending_2fa";
}

const METHOD_TEXTS = { EMAIL_CODE: "email_code", GOOGLE: "google", GITHUB: "github", PASSKEY: "passkey" } as const;

/** The sign-in method, as the API names it. */
export function methodText(method: SignInMethod): (typeof METHOD_TEXTS)[SignInMethod] {
  return METHOD_TEXTS[method];
}
