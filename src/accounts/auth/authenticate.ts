// Authenticates an API key in ONE storage call, which also reads the merchant named in the path and the route's own reads. The route's reads are
// discarded unless the key is valid, so that none of their data can leak (architecture.md "One request").
import { equalDigests } from "../../lib/bytes.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { MINUTE_MS } from "../../lib/time.ts";
import { type ResultsOf, readTogether } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Statement } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import type { MerchantRow } from "../merchant-records/store.ts";
import { permissionsOfKey } from "../roles/permissions.ts";
import { unusedEnd } from "./api-key.ts";
import { isIpAllowed } from "./ip-allow-list.ts";
import type { ApiKeyPrincipal } from "./principal.ts";
import { type ApiKeyRow, selectCaller, touchApiKey } from "./store.ts";

export type Statements = readonly Statement[];

interface Authenticated<R extends Statements> {
  readonly principal: ApiKeyPrincipal;
  readonly merchant: MerchantRow;
  readonly read: ResultsOf<R>;
  /** Whether the time of the key's last use should be updated (at most once a minute). */
  readonly isTouchDue: boolean;
}

interface Credentials {
  /** The hash of a well-formed key: `apiKeyKind` has been called before. */
  readonly keyHash: string;
  /** The merchant named in the path. */
  readonly merchantId: string;
  readonly ip: string | undefined;
  readonly nowMs: number;
  readonly sleep: Sleep;
}

/**
 * Fails with the same 401 if the key is unknown, expired or revoked, with 403 if it belongs to a different merchant or may not be used from this
 * address, and with 404 if the merchant was deleted.
 */
export async function authenticate<const R extends Statements>(
  db: Db,
  credentials: Credentials,
  reads: R,
): Promise<Result<Authenticated<R>, Failure>> {
  const { keyHash: hash, nowMs } = credentials;
  const rows = await readWithRetry(credentials.sleep, async () =>
    readTogether(db, [selectCaller(db, { hash, merchantId: credentials.merchantId }), ...reads]),
  );
  if (!rows.ok) return rows;
  const [callers, ...read] = rows.value;
  const [key] = callers;
  if (key === undefined || !isSecretOf(key, hash, nowMs) || !isLive(key, nowMs)) return err({ code: "UNAUTHORIZED" });
  if (key.merchantId !== credentials.merchantId) return err({ code: "MERCHANT_MISMATCH" });
  if (key.merchant === null) return err({ code: "MERCHANT_NOT_FOUND" });
  if (key.allowedIps !== null && !isIpAllowed(credentials.ip, namesIn(key.allowedIps)))
    return err({ code: "IP_NOT_ALLOWED" });
  return ok({
    principal: principalOf(key),
    merchant: key.merchant,
    read,
    isTouchDue: (key.lastUsedAtMs ?? 0) <= nowMs - MINUTE_MS,
  });
}

/** Like `authenticate`, for the merchant that the key belongs to. Takes a second storage call, because the merchant is read first. */
export async function authenticateKey(
  db: Db,
  credentials: Omit<Credentials, "merchantId">,
): Promise<Result<Authenticated<[]>, Failure>> {
  const { keyHash: hash, sleep } = credentials;
  const keys = await readWithRetry(sleep, async () => readTogether(db, [selectCaller(db, { hash, merchantId: "" })]));
  if (!keys.ok) return keys;
  const [[key]] = keys.value;
  return authenticate(db, { ...credentials, merchantId: key?.merchantId ?? "" }, []);
}

/** Updates the time of the key's last use; the update may be lost. */
export async function noteKeyUse(db: Db, principal: ApiKeyPrincipal, nowMs: number): Promise<void> {
  await touchApiKey(db, principal.keyId, nowMs);
}

/** Whether the hash is that of the key's secret, or of its previous secret while the overlap of a rotation lasts. */
function isSecretOf(key: ApiKeyRow, hash: string, nowMs: number): boolean {
  if (equalDigests(key.hash, hash)) return true;
  const { previousHash, previousExpiresAtMs } = key;
  return previousHash !== null && equalDigests(previousHash, hash) && nowMs < (previousExpiresAtMs ?? 0);
}

function isLive(key: ApiKeyRow, nowMs: number): boolean {
  return key.revokedAtMs === null && isBefore(nowMs, key.expiresAtMs) && isBefore(nowMs, unusedEnd(key));
}

function isBefore(nowMs: number, endMs: number | null): boolean {
  return endMs === null || nowMs < endMs;
}

function principalOf(key: ApiKeyRow): ApiKeyPrincipal {
  return {
    kind: "API_KEY",
    keyKind: key.kind,
    keyId: key.id,
    merchantId: key.merchantId,
    permissions: permissionsOfKey(namesIn(key.permissions)),
    rights: key.rights === null ? null : namesIn(key.rights),
  };
}

function namesIn(json: string): readonly string[] {
  const parsed: unknown = JSON.parse(json);
  return Array.isArray(parsed) ? parsed.filter((each) => typeof each === "string") : [];
}
