// Registers a passkey: what the browser made of our options is judged, and its key kept, in the batch that uses the challenge up.
import { commitAudited } from "../audit/commit-audited.ts";
import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import { isConflictOn } from "../db/conflict.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { derivedId, makeId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { ProvedSession } from "../sessions/session.ts";
import { madeCredentialOf } from "./attestation.ts";
import type { PasskeyEffects } from "./begin-passkey.ts";
import { clientDataIn } from "./client-data.ts";
import { type Attestation, isChallengeOf, relyingPartyOf } from "./credential.ts";
import { consumeChallenge, insertPasskey, type PasskeyRow, selectChallenge } from "./store.ts";

export interface NewPasskey {
  readonly session: Pick<ProvedSession, "id" | "userId">;
  readonly credential: Attestation;
  readonly name: string;
  readonly trail: Trail;
}

/** PASSKEY_REFUSED for whatever is wrong with an answer; PASSKEY_EXISTS when the credential is registered, by anybody. */
export async function addPasskey(fx: PasskeyEffects, of: NewPasskey): Promise<Result<PasskeyRow, Failure>> {
  const { db, nowMs } = fx;
  const { session, credential } = of;
  const client = clientDataIn(credential.response.clientDataJSON);
  if (client === undefined) return err({ code: "PASSKEY_REFUSED" });
  const hash = sha256Hex(client.challenge);
  const rows = await readWithRetry(fx.sleep, async () => selectChallenge(db, hash));
  if (!rows.ok) return rows;
  const [given] = rows.value;
  if (given === undefined || !isChallengeOf(given, { kind: "PASSKEY_REGISTRATION", session }, nowMs))
    return err({ code: "PASSKEY_REFUSED" });
  const made = madeCredentialOf(credential, client, relyingPartyOf(fx.publicUrl));
  if (made === undefined) return err({ code: "PASSKEY_REFUSED" });
  const operationId = fx.newOperationId();
  const id = makeId("pky", operationId);
  const transports = JSON.stringify(credential.response.transports ?? []);
  const own = { id, userId: session.userId, name: of.name, createdAtMs: nowMs, lastUsedAtMs: null };
  const passkey = { ...made, ...own, transports };
  const { name, isBackedUp } = passkey;
  const auditId = derivedId("aud", operationId);
  const entry = {
    id: auditId,
    merchantId: null,
    action: "passkey.added",
    target: id,
    after: { name, isBackedUp },
  } as const;
  const committed = await commitAudited(fx, auditId, [
    ...consumeChallenge(db, hash),
    insertPasskey(db, passkey),
    insertAudit(db, of.trail, entry, nowMs),
  ]);
  if (committed.kind === "stands") return ok(passkey);
  if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
  if (isConflictOn(committed.conflict, "passkeys", ["credential_id"])) return err({ code: "PASSKEY_EXISTS" });
  if (committed.conflict.kind === "assertion") return err({ code: "PASSKEY_REFUSED" });
  throw new Error("a new passkey violates a key that nobody else can hold");
}
