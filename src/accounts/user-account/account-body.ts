import { isoTime } from "../../lib/time.ts";
import { isSteppedUp, methodText, type Session, STEP_UP_MS, stateText } from "../sessions/session.ts";
import type { User } from "../users/user.ts";

/** The account data that `User` does not contain. */
export interface Account {
  readonly createdAtMs: number;
  readonly passkeys: number;
  readonly backupCodesLeft: number;
  readonly identities: readonly {
    readonly provider: string;
    readonly email: string | null;
    readonly createdAtMs: number;
  }[];
}

/** The response body of `/me`. */
export function accountBodyOf(user: User, session: Session, account: Account, nowMs: number) {
  const { factorAtMs } = session;
  const isUp = factorAtMs !== null && isSteppedUp(session, user, nowMs);
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    emailVerified: user.isEmailVerified,
    isOperator: user.isOperator,
    factors: {
      totp: user.hasTotp,
      emailOtp: user.hasEmailOtp,
      passkeys: account.passkeys,
      backupCodesLeft: account.backupCodesLeft,
    },
    identities: account.identities.map(({ provider, email, createdAtMs }) => ({
      provider,
      email,
      linkedAt: isoTime(createdAtMs),
    })),
    session: {
      id: session.id,
      state: stateText(session.state),
      signedInWith: methodText(session.signedInWith),
      steppedUpUntil: isUp ? isoTime(factorAtMs + STEP_UP_MS) : null,
    },
    createdAt: isoTime(account.createdAtMs),
  };
}
