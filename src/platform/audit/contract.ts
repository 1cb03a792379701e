// The wire format of the audit log: its queries, and the shape of an entry (decisions 10).
import * as z from "zod";
import { time, timeParameter } from "../../lib/fields.ts";
import { listBody, listQuery } from "../../lib/pagination.ts";
import { ACTOR_KINDS, AUDIT_ACTIONS } from "./entry.ts";

const filters = () => ({
  action: z.enum(AUDIT_ACTIONS).optional().meta({ description: "Only changes of this kind." }),
  from: timeParameter().optional().meta({ description: "Entries at this time and after." }),
  to: timeParameter().optional().meta({ description: "Entries at this time and before." }),
});

/** A user's own entries: the actor is always them. */
export const myAuditQuery = () => z.object({ ...listQuery(), ...filters() });

export const auditQuery = () =>
  z.object({
    ...listQuery(),
    actor: z
      .string()
      .min(1)
      .max(40)
      .optional()
      .meta({ description: "Id of a person or key, or USER, API_KEY, SYSTEM." }),
    ...filters(),
  });

// ---- answers

const facts = () =>
  z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]))
    .nullable()
    .meta({ description: "Fields that the change touched; never a secret." });

export const auditEventBody = () =>
  z
    .object({
      id: z.string(),
      actor: z.object({ kind: z.enum(ACTOR_KINDS), id: z.string().nullable() }),
      action: z.enum(AUDIT_ACTIONS),
      target: z.string().meta({ description: "Id of what was changed." }),
      before: facts(),
      after: facts(),
      ip: z.string().nullable(),
      requestId: z.string().nullable(),
      createdAt: time(),
    })
    .meta({ title: "AuditEvent" });

export const auditListBody = () => listBody(auditEventBody()).meta({ title: "AuditEventList" });
