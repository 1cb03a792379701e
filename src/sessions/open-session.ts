// Opening a session and replacing its token. The token leaves in a cookie and is nowhere else: the database holds its SHA-256.
import { base64urlnopad } from "@scure/base";
import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Db } from "../db/client.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { derivedId, makeId } from "../lib/ids.ts";
import type { Person } from "../users/person.ts";
import { type FactorGiven, type ProvedSession, type Session, type SignInMethod, stateAtSignIn } from "./session.ts";
import { insertSession, replaceToken } from "./store.ts";

const TOKEN_BYTES = 32;

export interface NewSession {
  readonly person: Person;
  readonly signedInWith: SignInMethod;
  /** What was given at sign-in, where it is one of the factors that step-up knows. */
  readonly factor: FactorGiven | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** 256 random bits, for a cookie or a link. */
export function newToken(): string {
  return base64urlnopad.encode(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)));
}

/** The session, its token, and the statements that make it stand; `operationId` a fresh ULID. */
export function openSession(
  fx: { readonly db: Db; readonly nowMs: number },
  of: NewSession & { readonly operationId: string; readonly requestId: Trail["requestId"] },
) {
  const token = newToken();
  const session: Session & { readonly ip: string | null; readonly userAgent: string | null } = {
    id: makeId("ses", of.operationId),
    userId: of.person.id,
    state: stateAtSignIn(of.person, of.signedInWith),
    signedInWith: of.signedInWith,
    factor: of.factor,
    factorAtMs: of.factor === null ? null : fx.nowMs,
    ip: of.ip,
    userAgent: of.userAgent,
    createdAtMs: fx.nowMs,
    lastSeenAtMs: fx.nowMs,
    revokedAtMs: null,
  };
  const trail: Trail = { actor: { kind: "USER", id: of.person.id }, ip: of.ip, requestId: of.requestId };
  const entry = {
    id: derivedId("aud", of.operationId),
    merchantId: null,
    action: "session.created",
    target: session.id,
    after: { signedInWith: of.signedInWith, state: session.state },
  } as const;
  return {
    token,
    session,
    statements: [
      insertSession(fx.db, { ...session, tokenHash: sha256Hex(token) }),
      insertAudit(fx.db, trail, entry, fx.nowMs),
    ],
  } as const;
}

/**
 * A factor was given inside a session: the token is replaced, a second factor that was owed is settled. Of two at once the second finds
 * no such session any more: its statement changes nothing, and its token is none.
 */
export function giveFactor(
  fx: { readonly db: Db; readonly nowMs: number },
  session: ProvedSession,
  factor: FactorGiven,
) {
  const token = newToken();
  const columns = { tokenHash: sha256Hex(token), state: "ACTIVE", factor, factorAtMs: fx.nowMs } as const;
  return { token, statement: replaceToken(fx.db, session, columns, fx.nowMs) };
}
