import { isoTime } from "../lib/time.ts";
import { isSteppedUp, methodText, type Session, STEP_UP_MS, stateText } from "../sessions/session.ts";
import type { Person } from "./person.ts";

/** What hangs on an account beside the person. */
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

/** `/me` as it is answered. */
export function accountBodyOf(person: Person, session: Session, account: Account, nowMs: number) {
  const { factorAtMs } = session;
  const isUp = factorAtMs !== null && isSteppedUp(session, person, nowMs);
  return {
    id: person.id,
    email: person.email,
    name: person.name,
    emailVerified: person.isEmailVerified,
    factors: {
      totp: person.hasTotp,
      emailOtp: person.hasEmailOtp,
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
