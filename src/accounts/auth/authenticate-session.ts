// Authenticates a user by their session. For a merchant's route it also checks that the user is a member of the team and meets its security
// policy. All of this and the route's own reads are ONE storage call; nothing is cached.
import { sha256Hex } from "../../lib/bytes.ts";
import { chunksOf } from "../../lib/chunks.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { batch, type ResultsOf } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { MerchantRow } from "../merchant-records/store.ts";
import { ROLE_PERMISSIONS } from "../roles/roles.ts";
import { missingFactors, type SignInProvider } from "../security-policies/security-policy.ts";
import { isSessionLive, secondFactorsOf, TOUCH_MS } from "../sessions/session.ts";
import { type Links, type SessionRow, selectMember, selectUser, touchSession } from "../sessions/store.ts";
import type { UserRow } from "../users/store.ts";
import type { User } from "../users/user.ts";
import type { Statements } from "./authenticate.ts";
import type { MemberPrincipal, UserPrincipal } from "./principal.ts";

interface SessionCredentials {
  /** The cookie's value. */
  readonly token: string;
  readonly nowMs: number;
  readonly sleep: Sleep;
}

interface AuthenticatedUser<R extends Statements> {
  readonly principal: UserPrincipal;
  readonly read: ResultsOf<R>;
  /** Whether the time of the session's last use should be updated. */
  readonly isTouchDue: boolean;
}

interface AuthenticatedMember<R extends Statements> extends AuthenticatedUser<R> {
  readonly principal: MemberPrincipal;
  readonly merchant: MerchantRow;
}

/**
 * Fails with 401 if the token is unknown, revoked or expired, and with 403 SECOND_FACTOR_REQUIRED if the session still needs its second factor,
 * unless `mayOweFactor`.
 */
export async function authenticateUser<const R extends Statements>(
  db: Db,
  credentials: SessionCredentials & { readonly mayOweFactor: boolean },
  reads: R,
): Promise<Result<AuthenticatedUser<R>, Failure>> {
  const tokenHash = sha256Hex(credentials.token);
  const rows = await readWithRetry(credentials.sleep, async () => batch(db, [selectUser(db, tokenHash), ...reads]));
  if (!rows.ok) return rows;
  const [[row], ...read] = rows.value;
  const principal = principalOf(row, credentials);
  return principal.ok
    ? ok({ principal: principal.value, read, isTouchDue: isTouchDue(row, credentials.nowMs) })
    : principal;
}

/**
 * Like `authenticateUser`. Also fails with 404 if the user is not in the merchant's team, whether or not the merchant exists, and with 403
 * SECURITY_REQUIREMENT_NOT_MET, naming the factors that the team requires and the user does not have.
 */
export async function authenticateMember<const R extends Statements>(
  db: Db,
  credentials: SessionCredentials & {
    readonly merchantId: string;
    readonly configured: ReadonlySet<SignInProvider>;
  },
  reads: R,
): Promise<Result<AuthenticatedMember<R>, Failure>> {
  const { merchantId } = credentials;
  const tokenHash = sha256Hex(credentials.token);
  const rows = await readWithRetry(credentials.sleep, async () =>
    batch(db, [selectMember(db, { tokenHash, merchantId }), ...reads]),
  );
  if (!rows.ok) return rows;
  const [[row], ...read] = rows.value;
  const seat = seatIn(row, credentials);
  return seat.ok ? ok({ ...seat.value, read, isTouchDue: isTouchDue(row, credentials.nowMs) }) : seat;
}

/** Members per batch. Fewer than this usually have live updates open at once, and D1 accepts this many statements. */
const MEMBERS_AT_ONCE = 50;

/**
 * Rechecks members who were authenticated before, each identified by the hash of their session's token. Omits those whose session or seat has ended,
 * or who lack what the team requires.
 */
export async function memberSeats(
  db: Db,
  of: Pick<SessionCredentials, "nowMs" | "sleep"> & {
    readonly merchantId: string;
    readonly configured: ReadonlySet<SignInProvider>;
    readonly tokenHashes: readonly string[];
  },
): Promise<Result<ReadonlyMap<string, MemberPrincipal>, Failure>> {
  const { merchantId } = of;
  const found = new Map<string, MemberPrincipal>();
  for (const hashes of chunksOf(of.tokenHashes, MEMBERS_AT_ONCE)) {
    const rows = await readWithRetry(of.sleep, async () =>
      batch(
        db,
        hashes.map((tokenHash) => selectMember(db, { tokenHash, merchantId })),
      ),
    );
    if (!rows.ok) return rows;
    for (const [row] of rows.value) {
      const seat = seatIn(row, of);
      if (row !== undefined && seat.ok) found.set(row.tokenHash, seat.value.principal);
    }
  }
  return ok(found);
}

type FoundMember = Awaited<ReturnType<typeof selectMember>>[number];

/** The current seat of the session's user. */
function seatIn(
  row: FoundMember | undefined,
  { nowMs, configured }: { readonly nowMs: number; readonly configured: ReadonlySet<SignInProvider> },
): Result<Pick<AuthenticatedMember<[]>, "principal" | "merchant">, Failure> {
  const known = principalOf(row, { nowMs, mayOweFactor: false });
  if (!known.ok) return known;
  if (row === undefined || row.merchant === null || row.member === null) return err({ code: "MERCHANT_NOT_FOUND" });
  const { merchant, member, team } = row;
  if (team === null) throw new Error(`the merchant ${merchant.id} has no team`);
  const missing = missingFactors(team, known.value.user, configured);
  if (missing.length > 0) return err({ code: "SECURITY_REQUIREMENT_NOT_MET", missing });
  const principal: MemberPrincipal = {
    ...known.value,
    merchantId: merchant.id,
    memberId: member.id,
    role: member.role,
    permissions: ROLE_PERMISSIONS[member.role],
  };
  return ok({ principal, merchant });
}

/** Updates the time of the session's last use; the update may be lost. */
export async function noteSessionUse(db: Db, principal: UserPrincipal, nowMs: number): Promise<void> {
  await touchSession(db, principal.session.id, nowMs);
}

type FoundSession = SessionRow & { readonly user: UserRow | null; readonly links: Links };

function principalOf(
  row: FoundSession | undefined,
  { nowMs, mayOweFactor }: { readonly nowMs: number; readonly mayOweFactor: boolean },
): Result<UserPrincipal, Failure> {
  if (row === undefined || row.user === null || !isSessionLive(row, nowMs)) return err({ code: "UNAUTHORIZED" });
  const user = userOf(row.user, row.links);
  if (row.state === "PENDING_2FA" && !mayOweFactor)
    return err({ code: "SECOND_FACTOR_REQUIRED", factors: secondFactorsOf(user) });
  return ok({ kind: "USER", user, session: row });
}

export function userOf(user: UserRow, links: Links): User {
  return {
    id: user.id,
    email: user.email,
    emailKey: user.emailKey,
    name: user.name,
    isOperator: user.operatorSinceMs !== null,
    isEmailVerified: user.emailVerifiedAtMs !== null,
    hasTotp: user.totpEnabledAtMs !== null,
    hasEmailOtp: user.emailOtpEnabledAtMs !== null,
    hasPasskey: links.passkey,
    hasGoogle: links.google,
    hasGithub: links.github,
  };
}

function isTouchDue(row: SessionRow | undefined, nowMs: number): boolean {
  return row !== undefined && row.lastSeenAtMs <= nowMs - TOUCH_MS;
}
