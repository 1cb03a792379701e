import { isoTime, isoTimeOrNull } from "../../lib/time.ts";
import { type JsonOf, parseJson } from "../../lib/typed-json.ts";
import type { AuditFacts } from "../../platform/audit/entry.ts";
import type { KeyKind } from "../auth/api-key.ts";

/** A key as it is stored, but for its hashes: nothing here can be used to call anything. */
export interface ApiKey {
  readonly id: string;
  readonly merchantId: string;
  readonly name: string;
  readonly kind: KeyKind;
  readonly display: string;
  /** JSON array of names. */
  readonly permissions: JsonOf<readonly string[]>;
  /** JSON array of ranges; null for any address. */
  readonly allowedIps: JsonOf<readonly string[]> | null;
  readonly expiresAtMs: number | null;
  /** When the secret before the last rotation ends; null when there is none. */
  readonly previousExpiresAtMs: number | null;
  readonly lastUsedAtMs: number | null;
  readonly createdAtMs: number;
  readonly createdBy: string | null;
}

/** A key as its merchant sees it (decisions 8). `rotatedUntil`: how long the secret before this one still works. */
export function apiKeyBodyOf(key: ApiKey, nowMs: number) {
  const { previousExpiresAtMs: until } = key;
  return {
    id: key.id,
    merchantId: key.merchantId,
    name: key.name,
    kind: key.kind,
    display: key.display,
    permissions: parseJson(key.permissions),
    allowedIps: key.allowedIps === null ? null : parseJson(key.allowedIps),
    expiresAt: isoTimeOrNull(key.expiresAtMs),
    lastUsedAt: isoTimeOrNull(key.lastUsedAtMs),
    rotatedUntil: until !== null && until > nowMs ? isoTime(until) : null,
    createdAt: isoTime(key.createdAtMs),
    createdBy: key.createdBy,
  };
}

/** The same for the audit log: what was decided about the key. */
export function apiKeyFacts(key: ApiKey): AuditFacts {
  return {
    name: key.name,
    kind: key.kind,
    display: key.display,
    permissions: parseJson(key.permissions),
    allowedIps: key.allowedIps === null ? null : parseJson(key.allowedIps),
    expiresAt: isoTimeOrNull(key.expiresAtMs),
  };
}
