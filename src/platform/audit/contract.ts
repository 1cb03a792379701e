// The wire format of the audit log: its queries and its entries (decisions 10).
import * as z from "zod";
import { time, timeParameter } from "../../lib/fields.ts";
import { listBody, listQuery } from "../../lib/pagination.ts";
import { AUDIT_ACTIONS } from "../column-values.ts";
import { ACTOR_KINDS } from "./entry.ts";

const filters = () => ({
  action: z.enum(AUDIT_ACTIONS).optional().meta({ description: "Only entries with this action." }),
  from: timeParameter().optional().meta({ description: "Only entries from this time on." }),
  to: timeParameter().optional().meta({ description: "Only entries up to this time." }),
});

/** The query of a user's own entries; it names no actor, because the actor is always this user. */
export const myAuditQuery = () => z.object({ ...listQuery(), ...filters() });

export const auditQuery = () =>
  z.object({
    ...listQuery(),
    actor: z
      .string()
      .min(1)
      .max(40)
      .optional()
      .meta({ description: "The id of a user or API key, or one of USER, API_KEY, SYSTEM." }),
    ...filters(),
  });

// ---- responses

const facts = () =>
  z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]))
    .nullable()
    .meta({ description: "The changed fields; never a secret." });

const auditEventBody = () =>
  z
    .object({
      id: z.string(),
      actor: z.object({ kind: z.enum(ACTOR_KINDS), id: z.string().nullable() }),
      action: z.enum(AUDIT_ACTIONS),
      target: z.string().meta({ description: "The id of the changed resource." }),
      before: facts(),
      after: facts(),
      ip: z.string().nullable(),
      requestId: z.string().nullable(),
      createdAt: time(),
    })
    .meta({ title: "AuditEvent" });

export const auditListBody = () => listBody(auditEventBody()).meta({ title: "AuditEventList" });
