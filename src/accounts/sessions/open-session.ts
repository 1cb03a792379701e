// Opens a session and replaces its token. Only the browser's cookie has the token; the database stores its SHA-256.
import { base64urlnopad } from "@scure/base";
import { sha256Hex } from "../../lib/bytes.ts";
import { derivedId, makeId, type RequestId } from "../../lib/ids.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import type { Db } from "../../platform/db/client.ts";
import type { User } from "../users/user.ts";
import { revocation } from "./revoke-session.ts";
import {
  type FactorGiven,
  isSessionLive,
  type ProvedSession,
  type Session,
  type SessionState,
  type SignInMethod,
  stateAtSignIn,
} from "./session.ts";
import { insertSession, replaceToken } from "./store.ts";

const TOKEN_BYTES = 32;

/** The browser that signs in, and its request. */
export interface Browser {
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly requestId: RequestId;
}

interface NewSession {
  readonly user: User;
  readonly signedInWith: SignInMethod;
  /** The factor with which the user signed in, if it counts for step-up. */
  readonly factor: FactorGiven | null;
  readonly browser: Browser;
  /** The browser's previous session, if any; it ends. */
  readonly replaced: Session | undefined;
}

export interface SignedIn {
  readonly token: string;
  readonly state: SessionState;
  readonly user: User;
}

/** 256 random bits, for a cookie or a link. */
export function newToken(): string {
  return base64urlnopad.encode(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)));
}

/** The new session for the browser, and the statements that open it. `operationId`: a new ULID; audit entries 0 and 3 derive from it. */
export function openSession(
  deps: { readonly db: Db; readonly nowMs: number },
  { user, signedInWith, factor, browser, replaced }: NewSession,
  operationId: string,
) {
  const { ip, userAgent, requestId } = browser;
  const token = newToken();
  const session: Session & { readonly ip: string | null; readonly userAgent: string | null } = {
    id: makeId("ses", operationId),
    userId: user.id,
    state: stateAtSignIn(user, signedInWith),
    signedInWith,
    factor,
    factorAtMs: factor === null ? null : deps.nowMs,
    ip,
    userAgent,
    createdAtMs: deps.nowMs,
    lastSeenAtMs: deps.nowMs,
    revokedAtMs: null,
  };
  const { id: target, state } = session;
  const trail: Trail = { actor: { kind: "USER", id: user.id }, ip, requestId };
  const id = derivedId("aud", operationId);
  const entry = { id, merchantId: null, action: "session.created", target, after: { signedInWith, state } } as const;
  const isEnding = replaced !== undefined && isSessionLive(replaced, deps.nowMs);
  const statements = [
    insertSession(deps.db, { ...session, tokenHash: sha256Hex(token) }),
    insertAudit(deps.db, trail, entry, deps.nowMs),
    ...(isEnding ? revocation(deps, { sessionId: replaced.id, trail, operationId, n: 3 }) : []),
  ];
  return { signedIn: { token, state, user } satisfies SignedIn, statements };
}

/**
 * Updates a session after a factor was given: replaces its token, and completes a pending second factor. Of two concurrent calls, the second no
 * longer finds the session: its statement changes nothing, and its token is invalid.
 */
export function giveFactor(
  deps: { readonly db: Db; readonly nowMs: number },
  session: ProvedSession,
  factor: FactorGiven,
) {
  const token = newToken();
  const columns = { tokenHash: sha256Hex(token), state: "ACTIVE", factor, factorAtMs: deps.nowMs } as const;
  return { token, statement: replaceToken(deps.db, session, columns, deps.nowMs) };
}
