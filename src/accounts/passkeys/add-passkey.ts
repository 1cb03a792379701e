// Registers a passkey: verifies the browser's response to our options, and stores its public key in the batch that uses up the challenge.

import { sha256Hex } from "../../lib/bytes.ts";
import { makeId } from "../../lib/ids.ts";
import { err, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { changeOnce } from "../../platform/changes/change.ts";
import type { BatchConflict } from "../../platform/db/conflict.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { ProvedSession } from "../sessions/session.ts";
import type { PasskeyDependencies } from "./begin-passkey.ts";
import { clientDataIn } from "./client-data.ts";
import { type Attestation, isChallengeOf, relyingPartyOf } from "./credential.ts";
import { consumeChallenge, insertPasskey, type PasskeyRow, selectChallenge } from "./store.ts";
import { madeCredentialOf } from "./verify-attestation.ts";

interface NewPasskey {
  readonly session: Pick<ProvedSession, "id" | "userId">;
  readonly credential: Attestation;
  readonly name: string;
  readonly trail: Trail;
}

/** Fails with PASSKEY_REFUSED if anything in the response is wrong, or with PASSKEY_EXISTS if any user has already registered the credential. */
export async function addPasskey(deps: PasskeyDependencies, of: NewPasskey): Promise<Result<PasskeyRow, Failure>> {
  const { db, nowMs } = deps;
  const { session, credential } = of;
  const client = clientDataIn(credential.response.clientDataJSON);
  if (client === undefined) return err({ code: "PASSKEY_REFUSED" });
  const hash = sha256Hex(client.challenge);
  const rows = await readWithRetry(deps.sleep, async () => selectChallenge(db, hash));
  if (!rows.ok) return rows;
  const [given] = rows.value;
  if (given === undefined || !isChallengeOf(given, { kind: "PASSKEY_REGISTRATION", session }, nowMs))
    return err({ code: "PASSKEY_REFUSED" });
  const made = await madeCredentialOf(credential, client, relyingPartyOf(deps.publicUrl));
  if (made === undefined) return err({ code: "PASSKEY_REFUSED" });
  const refusal = (conflict: BatchConflict) =>
    ({ code: conflict.kind === "assertion" ? "PASSKEY_REFUSED" : "PASSKEY_EXISTS" }) as const;
  return changeOnce(deps, { name: "a new passkey", refusal }, ({ operationId, auditId }) => {
    const id = makeId("pky", operationId);
    const transports = JSON.stringify(credential.response.transports ?? []);
    const own = { id, userId: session.userId, name: of.name, createdAtMs: nowMs, lastUsedAtMs: null };
    const passkey = { ...made, ...own, transports };
    const { name, isBackedUp } = passkey;
    const facts = { after: { name, isBackedUp } };
    const entry = { id: auditId, merchantId: null, action: "passkey.added", target: id, ...facts } as const;
    return {
      value: passkey,
      statements: [...consumeChallenge(db, hash), insertPasskey(db, passkey), insertAudit(db, of.trail, entry, nowMs)],
    };
  });
}
