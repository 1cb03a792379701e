// Records the deployment's keys before they are needed: a public key must outlive its signing key, and backup codes need the pepper under which they
// were stored, because only their HMACs are known. Writes nothing while the keys match the record.
import { base64 } from "@scure/base";
import type { SecretKey } from "../../lib/keyring.ts";
import type { Report } from "../../lib/log.ts";
import { seal } from "../../lib/seal.ts";
import { batch } from "../db/batch.ts";
import type { Db } from "../db/client.ts";
import type { Statement } from "../db/statement.ts";
import { fingerprintOf, isPublicKeyIntact, type Keyrings, macOfPublicKey, pepperContext } from "./deployment-key.ts";
import { meetingName } from "./keyed-rows.ts";
import { KEYRING_NAMES, type KeyringName } from "./keyrings.ts";
import { type DeploymentKey, recordKey, selectKeys } from "./store.ts";

export interface RecordDependencies {
  readonly db: Db;
  readonly nowMs: number;
  readonly rings: Keyrings;
  /** The public half of a signing key, base64url. */
  publicKeyOf(key: SecretKey): Promise<string>;
  readonly report: Report;
}

type Named = { readonly keyring: KeyringName; readonly key: SecretKey; readonly isNewest: boolean };

/** Returns the names (`meetingName`) of keys that differ from those recorded under their ids: no row may be verified with them. */
export async function recordKeys(deps: RecordDependencies): Promise<ReadonlySet<string>> {
  const { db } = deps;
  const rows = await selectKeys(db);
  const rowOf = ({ keyring, key }: Named) => rows.find((row) => row.keyring === keyring && row.keyId === key.id);
  const keys = namedKeys(deps.rings);
  const isForeign = (named: Named) =>
    (rowOf(named)?.fingerprint ?? fingerprintOf(named.key)) !== fingerprintOf(named.key);
  const foreign = keys.filter(isForeign);
  for (const { keyring, key } of foreign)
    deps.report("a key differs from the one that had its id before", { keyring, keyId: key.id });
  const held = keys.filter((named) => !foreign.includes(named));
  const recorded = await Promise.all(held.map((named) => recordHeld(deps, named, rowOf(named))));
  const left = rows
    .filter((row) => deps.rings[row.keyring] !== undefined && !keys.some((named) => rowOf(named) === row))
    .map((row) => recordLeft(deps, row));
  const statements = [...recorded, ...left].flat();
  if (statements.length > 0) await batch(db, statements);
  return new Set(foreign.map(({ keyring, key }) => meetingName(keyring, key.id)));
}

function namedKeys(rings: Keyrings): readonly Named[] {
  return KEYRING_NAMES.flatMap((keyring) =>
    (rings[keyring] ?? []).map((key, at) => ({ keyring, key, isNewest: at === 0 })),
  );
}

async function recordHeld(
  deps: RecordDependencies,
  named: Named,
  row: DeploymentKey | undefined,
): Promise<readonly Statement[]> {
  const { keyring, key } = named;
  const isRecorded = row !== undefined && row.leftAtMs === null;
  const base = { leftAtMs: null, mac: null, macKeyId: null, kept: null };
  const { ROW_MAC_KEY: macKeys, SECRETS_AES_KEY: sealKeys } = deps.rings;
  if (keyring === "SIGNING_KEY") {
    if (macKeys === undefined) return [];
    const kept = await deps.publicKeyOf(key);
    if (isRecorded && row.kept === kept && isPublicKeyIntact(macKeys, row)) return [];
    const facts = { keyId: key.id, kept, leftAtMs: null };
    return [recorded(deps, named, { ...base, kept, ...macOfPublicKey(macKeys, facts) })];
  }
  if (keyring === "CODE_PEPPER" && !named.isNewest && sealKeys !== undefined) {
    if (isRecorded && row.kept !== null) return [];
    const kept = row?.kept ?? (await seal(sealKeys, pepperContext(key.id), base64.encode(key.secret)));
    return [recorded(deps, named, { ...base, kept })];
  }
  return isRecorded ? [] : [recorded(deps, named, { ...base, kept: row?.kept ?? null })];
}

function recorded(
  { db, nowMs }: RecordDependencies,
  { keyring, key }: Named,
  facts: Pick<DeploymentKey, "kept" | "mac" | "macKeyId" | "leftAtMs">,
): Statement {
  const changes = { ...facts, unusedSinceMs: null };
  return recordKey(
    db,
    { keyring, keyId: key.id, fingerprint: fingerprintOf(key), createdAtMs: nowMs, ...changes },
    changes,
  );
}

/** Records a key that is no longer in its keyring. Its row stays, so that no other key can take its id. */
function recordLeft({ db, nowMs, rings }: RecordDependencies, row: DeploymentKey): readonly Statement[] {
  if (row.leftAtMs !== null) return [];
  if (row.keyring !== "SIGNING_KEY") return [recordKey(db, row, { leftAtMs: nowMs })];
  const { ROW_MAC_KEY: macKeys } = rings;
  if (macKeys === undefined || !isPublicKeyIntact(macKeys, row)) return [];
  return [recordKey(db, row, { leftAtMs: nowMs, ...macOfPublicKey(macKeys, { ...row, leftAtMs: nowMs }) })];
}
