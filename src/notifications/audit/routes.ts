// Routes only read the audit log: the batch of each change writes its entry, and no route changes or deletes one (decisions 10).
import { type MountedRoute, routesOf } from "../../accounts/pipeline/routes-of.ts";
import { auditListBody, auditQuery, myAuditQuery } from "../../platform/audit/contract.ts";
import { auditPageReads, listAuditEvents } from "../../platform/audit/list-audit-events.ts";
import { replyTo } from "../../platform/http/reply.ts";

const ofMerchant = routesOf({ tag: "Audit", callers: "MEMBER_OR_KEY" }).get(
  "/api/v1/merchants/merchant/:merchantId/audit-events",
  {
    operationId: "listAuditEvents",
    summary: "List who changed what, newest first",
    description: "The log is append-only. Wallets appear only by fingerprint, and customers do not appear.",
    permission: "audit:view",
    query: auditQuery,
    answers: [{ status: 200, description: "One page", schema: auditListBody }],
    reads: ({ db, merchantId, request }) => auditPageReads(db, { kind: "MERCHANT", merchantId }, request?.query),
    answer: async (call) => {
      const [rows, counts] = call.read;
      return replyTo(listAuditEvents({ rows, total: counts[0]?.total ?? 0 }, call.query));
    },
  },
);

const ofUser = routesOf({ tag: "Audit", callers: "USER" }).get("/api/v1/me/audit-events", {
  operationId: "listMyAuditEvents",
  summary: "List changes of your own account, newest first",
  query: myAuditQuery,
  answers: [{ status: 200, description: "One page", schema: auditListBody }],
  reads: ({ db, tokenHash, request }) => auditPageReads(db, { kind: "USER", tokenHash }, request?.query),
  answer: async (call) => {
    const [rows, counts] = call.read;
    return replyTo(listAuditEvents({ rows, total: counts[0]?.total ?? 0 }, call.query));
  },
});

export const auditRoutes: readonly MountedRoute[] = [...ofMerchant, ...ofUser];
