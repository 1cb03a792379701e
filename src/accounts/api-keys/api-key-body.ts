import { isoTime, isoTimeOrNull } from "../../lib/time.ts";
import { type JsonOf, parseJson } from "../../lib/typed-json.ts";
import type { AuditFacts } from "../../platform/audit/entry.ts";
import { type KeyKind, unusedEnd } from "../auth/api-key.ts";

/** A stored key without its hashes, which the API never shows. */
interface ApiKey {
  readonly id: string;
  readonly merchantId: string;
  readonly name: string;
  readonly kind: KeyKind;
  readonly display: string;
  /** JSON array of permission names. */
  readonly permissions: JsonOf<readonly string[]>;
  /** JSON array of IP ranges; null allows any address. */
  readonly allowedIps: JsonOf<readonly string[]> | null;
  readonly expiresAtMs: number | null;
  /** When the previous secret, from before the last rotation, stops working; null if there is none. */
  readonly previousExpiresAtMs: number | null;
  readonly lastUsedAtMs: number | null;
  readonly createdAtMs: number;
  readonly createdBy: string | null;
  readonly givenTo: string | null;
  readonly unusedUntilMs: number | null;
}

/**
 * A key in the format of the API (decisions 8). `rotatedUntil`: when the previous secret stops working; null if it no longer works, or there is none.
 */
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
    givenTo: key.givenTo,
    expiresUnusedAt: isoTimeOrNull(unusedEnd(key)),
  };
}

/** The settings of a key, for the audit log. */
export function apiKeyFacts(key: ApiKey): AuditFacts {
  return {
    name: key.name,
    kind: key.kind,
    display: key.display,
    permissions: parseJson(key.permissions),
    allowedIps: key.allowedIps === null ? null : parseJson(key.allowedIps),
    expiresAt: isoTimeOrNull(key.expiresAtMs),
    ...(key.givenTo === null ? {} : { givenTo: key.givenTo }),
  };
}
