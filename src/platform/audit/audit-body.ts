// Converts an entry in the audit log to its wire format (decisions 10).
import type { AuditId, MerchantId, RequestId } from "../../lib/ids.ts";
import { isoTime } from "../../lib/time.ts";
import { type JsonOf, parseJson } from "../../lib/typed-json.ts";
import type { AuditAction } from "../column-values.ts";
import type { Actor } from "./entry.ts";

/** A row in the table; `before` and `after` are JSON. */
export interface AuditRow {
  readonly id: AuditId;
  readonly merchantId: MerchantId | null;
  readonly actorKind: Actor["kind"];
  readonly actorId: string | null;
  readonly action: AuditAction;
  readonly target: string;
  readonly before: JsonOf<Readonly<Record<string, unknown>>> | null;
  readonly after: JsonOf<Readonly<Record<string, unknown>>> | null;
  readonly ip: string | null;
  readonly requestId: RequestId | null;
  readonly createdAtMs: number;
}

export function auditBodyOf(row: AuditRow) {
  return {
    id: row.id,
    actor: { kind: row.actorKind, id: row.actorId },
    action: row.action,
    target: row.target,
    before: row.before === null ? null : parseJson(row.before),
    after: row.after === null ? null : parseJson(row.after),
    ip: row.ip,
    requestId: row.requestId,
    createdAt: isoTime(row.createdAtMs),
  };
}
