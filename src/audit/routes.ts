// The log is only read: entries come into being in the batches of what they tell of, and no route changes or deletes one (decisions 10).
import { type MountedRoute, merchantRoute } from "../auth/middleware.ts";
import { jsonReply } from "../http/reply.ts";
import { noBody } from "../http/route.ts";
import { ok } from "../lib/result.ts";
import { personRoute } from "../sessions/middleware.ts";
import { FREE_TEXT } from "../wallets/secret-material.ts";
import { auditListBody, auditQuery, myAuditQuery } from "./contract.ts";
import { auditPageReads, listAuditEvents } from "./list-audit-events.ts";

const common = {
  method: "GET",
  tag: "Audit",
  isForPublicKeys: false,
  isIdempotent: false,
  body: noBody,
  answers: [{ status: 200, description: "One page", schema: auditListBody }],
  refusals: [],
} as const;
const noEffects = () => ({});

const list = merchantRoute({
  spec: {
    ...common,
    path: "/api/v1/merchants/merchant/:merchantId/audit-events",
    operationId: "listAuditEvents",
    summary: "List who changed what, newest first",
    description: "Append-only. Wallets appear by fingerprint, customers not at all.",
    callers: "MEMBER_OR_KEY",
    permission: "audit:view",
    query: auditQuery,
  },
  secrets: FREE_TEXT,
  effects: noEffects,
  reads: ({ db, merchantId, request }) => auditPageReads(db, { kind: "MERCHANT", merchantId }, request?.query),
  answer: async (call) => {
    const [rows, counts] = call.read;
    const page = listAuditEvents({ rows, total: counts[0]?.total ?? 0 }, call.query);
    return page.ok ? ok(jsonReply(200, page.value)) : page;
  },
});

const mine = personRoute({
  spec: {
    ...common,
    path: "/api/v1/me/audit-events",
    operationId: "listMyAuditEvents",
    summary: "List changes of your own account, newest first",
    callers: "PERSON",
    permission: null,
    query: myAuditQuery,
  },
  effects: noEffects,
  reads: ({ db, tokenHash, request }) => auditPageReads(db, { kind: "PERSON", tokenHash }, request?.query),
  answer: async (call) => {
    const [rows, counts] = call.read;
    const page = listAuditEvents({ rows, total: counts[0]?.total ?? 0 }, call.query);
    return page.ok ? ok(jsonReply(200, page.value)) : page;
  },
});

export const auditRoutes: readonly MountedRoute[] = [list, mine];
