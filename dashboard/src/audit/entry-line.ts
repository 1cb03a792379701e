// A line of the exported log.
import type { AuditEvent } from "../api/operations.ts";
import type { Line } from "../shell/list-export.ts";

const COLUMNS = [
  "time",
  "actor_kind",
  "actor_id",
  "actor_name",
  "action",
  "target",
  "before",
  "after",
  "ip",
  "request_id",
];

/** `nameOf` returns "" if no name is known. */
export function entryLine(nameOf: (actor: AuditEvent["actor"]) => string): Line<AuditEvent> {
  return {
    columns: COLUMNS,
    fieldsOf: ({ createdAt, actor, action, target, before, after, ip, requestId }) => [
      createdAt,
      actor.kind,
      actor.id ?? "",
      nameOf(actor),
      action,
      target,
      before === null ? "" : JSON.stringify(before),
      after === null ? "" : JSON.stringify(after),
      ip ?? "",
      requestId ?? "",
    ],
  };
}
