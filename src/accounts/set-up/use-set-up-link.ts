// Redeems a set-up link. One batch uses up the link, makes the user an operator (a new one, or the account that has the address), adds their
// passkey, records that the deployment is set up and at which origin, and opens their session. If two people redeem it at once, only one batch
// commits.
import { sha256Hex } from "../../lib/bytes.ts";
import { emailKeyOf } from "../../lib/email.ts";
import { derivedId, makeId, type UserId } from "../../lib/ids.ts";
import { err, type Result } from "../../lib/result.ts";
import type { AuditFacts, Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { changeOnce } from "../../platform/changes/change.ts";
import type { AuditAction } from "../../platform/column-values.ts";
import { batch } from "../../platform/db/batch.ts";
import { isConflictOn } from "../../platform/db/conflict.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Statement } from "../../platform/db/statement.ts";
import { recordSetUp } from "../../platform/deployment/store.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { userOf } from "../auth/authenticate-session.ts";
import { makeOperator, type OperatorRow, selectOperators } from "../operators/store.ts";
import type { PasskeyDependencies } from "../passkeys/begin-passkey.ts";
import { clientDataIn } from "../passkeys/client-data.ts";
import { type Attestation, relyingPartyOf } from "../passkeys/credential.ts";
import { consumeChallenge, insertPasskey, type PasskeyRow, selectChallenge } from "../passkeys/store.ts";
import { madeCredentialOf } from "../passkeys/verify-attestation.ts";
import { mailWeakening } from "../protections/check-weakening.ts";
import { type Browser, openSession, type SignedIn } from "../sessions/open-session.ts";
import { selectSessionByToken } from "../sessions/store.ts";
import { insertUser, nameUser, newUserRow, selectUserById, type UserRow } from "../users/store.ts";
import { challengeOf, isRedeemable, linkHashOf } from "./set-up-link.ts";
import { consumeSetUpLink, selectSetUpLink } from "./store.ts";

interface Redemption extends Browser {
  readonly token: string;
  readonly credential: Attestation;
  /** The browser's current session, if any, which ends. */
  readonly oldToken: string | undefined;
}

interface Found {
  readonly linkHash: string;
  readonly challengeHash: string;
  readonly userId: UserId;
  readonly email: string;
  readonly name: string;
  readonly passkey: Pick<PasskeyRow, "credentialId" | "publicKey" | "counter" | "isBackedUp">;
  readonly known: Awaited<ReturnType<typeof selectUserById>>[number] | undefined;
  readonly oldSession: Awaited<ReturnType<typeof selectSessionByToken>>[number] | undefined;
  readonly operators: readonly OperatorRow[];
}

interface SetUpDependencies extends PasskeyDependencies {
  readonly mailer: Mailer;
}

/**
 * Fails with SETUP_LINK_INVALID if the link is unknown, used or expired, with PASSKEY_REFUSED if anything about the passkey is wrong, with
 * PASSKEY_EXISTS, or with CONTENTION if an account with the address was created meanwhile. After any of the last three the link still works.
 */
export async function useSetUpLink(deps: SetUpDependencies, of: Redemption): Promise<Result<SignedIn, Failure>> {
  const found = await read(deps, of);
  if (!found.ok) return found;
  const refusal = async (conflict: Parameters<typeof isConflictOn>[0]): Promise<Failure> => {
    if (isConflictOn(conflict, "passkeys")) return { code: "PASSKEY_EXISTS" };
    const link = await readWithRetry(deps.sleep, async () => selectSetUpLink(deps.db, found.value.linkHash));
    if (!link.ok) return link.error;
    return { code: isRedeemable(link.value[0], deps.nowMs) ? "CONTENTION" : "SETUP_LINK_INVALID" };
  };
  return changeOnce(deps, { name: "a set-up", refusal }, ({ operationId }) =>
    redemption(deps, of, found.value, operationId),
  );
}

async function read(deps: SetUpDependencies, of: Redemption): Promise<Result<Found, Failure>> {
  const { db, nowMs } = deps;
  const linkHash = linkHashOf(of.token);
  const client = clientDataIn(of.credential.response.clientDataJSON);
  const challengeHash = sha256Hex(client?.challenge ?? "");
  const rows = await readWithRetry(deps.sleep, async () =>
    batch(db, [
      selectSetUpLink(db, linkHash),
      selectChallenge(db, challengeHash),
      selectSessionByToken(db, sha256Hex(of.oldToken ?? "")),
      selectOperators(db),
    ]),
  );
  if (!rows.ok) return rows;
  const [[link], [given], [oldSession], operators] = rows.value;
  if (!isRedeemable(link, nowMs)) return err({ code: "SETUP_LINK_INVALID" });
  const challenge = challengeOf(given, linkHash, nowMs);
  if (client === undefined || challenge === undefined) return err({ code: "PASSKEY_REFUSED" });
  const passkey = await madeCredentialOf(of.credential, client, relyingPartyOf(deps.publicUrl));
  if (passkey === undefined) return err({ code: "PASSKEY_REFUSED" });
  const users = await readWithRetry(deps.sleep, async () => selectUserById(db, challenge.userId));
  if (!users.ok) return users;
  const [known] = users.value;
  return { ok: true, value: { ...challenge, challengeHash, passkey, known, oldSession, operators } };
}

function redemption(deps: SetUpDependencies, of: Redemption, found: Found, operationId: string) {
  const { db, nowMs } = deps;
  const { userId, email, name, known, linkHash } = found;
  const { origin } = relyingPartyOf(deps.publicUrl);
  const trail: Trail = { actor: { kind: "USER", id: userId }, ip: of.ip, requestId: of.requestId };
  const entry = (n: number, action: AuditAction, target: string, after: AuditFacts) =>
    insertAudit(db, trail, { id: derivedId("aud", operationId, n), merchantId: null, action, target, after }, nowMs);
  // The link proves that its holder can deploy, but not that they can read the mailbox, so the address is not marked as verified.
  const fresh: UserRow = {
    ...newUserRow({ id: userId, email, emailKey: emailKeyOf(email), nowMs }),
    name,
    emailVerifiedAtMs: null,
    operatorSinceMs: nowMs,
  };
  const row = known?.user ?? fresh;
  const links = known?.links ?? { passkey: false, google: false, github: false };
  const user = userOf(
    { ...row, name: row.name ?? name, operatorSinceMs: row.operatorSinceMs ?? nowMs },
    { ...links, passkey: true },
  );
  const given = { signedInWith: "PASSKEY", factor: "PASSKEY" } as const;
  const opened = openSession(deps, { user, ...given, browser: of, replaced: found.oldSession }, operationId);
  const passkey = passkeyOf(found, of.credential, { operationId, nowMs });
  const watch = { place: "the deployment", author: email, readers: found.operators.map((each) => each.email) };
  const weakens = [`Operators of the deployment: a set-up link was redeemed for ${email}`];
  const statements: Statement[] = [
    ...consumeSetUpLink(db, { tokenHash: linkHash, userId, nowMs }),
    ...consumeChallenge(db, found.challengeHash),
    recordSetUp(db, { origin, nowMs }),
    entry(4, "deployment.set_up", userId, { origin }),
    ...(known === undefined
      ? [insertUser(db, fresh), entry(1, "user.created", userId, { email, emailVerified: false })]
      : [makeOperator(db, userId, nowMs), nameUser(db, userId, name, nowMs)]),
    ...(row.operatorSinceMs === null || known === undefined ? [entry(5, "operator.added", userId, { email })] : []),
    insertPasskey(db, passkey),
    entry(2, "passkey.added", passkey.id, { name: passkey.name, isBackedUp: passkey.isBackedUp }),
    ...opened.statements,
  ];
  return { value: opened.signedIn, statements, afterwards: () => mailWeakening(deps, watch, weakens) };
}

function passkeyOf(
  { passkey, userId }: Found,
  { response }: Attestation,
  { operationId, nowMs }: { readonly operationId: string; readonly nowMs: number },
): PasskeyRow {
  const transports = JSON.stringify(response.transports ?? []);
  return {
    ...passkey,
    id: makeId("pky", operationId),
    userId,
    name: "Passkey",
    transports,
    createdAtMs: nowMs,
    lastUsedAtMs: null,
  };
}
