import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import type { Permission } from "../../accounts/roles/permissions.ts";
import { ok } from "../../lib/result.ts";
import { jsonReply } from "../../platform/http/reply.ts";
import { endpointAttention, invoiceAttention, unmatchedAttention, walletAttention } from "./attention.ts";
import { attentionBody } from "./contract.ts";
import { attentionDependencies } from "./dependencies.ts";
import { attentionReads } from "./read-attention.ts";

export const attentionRoutes = routesOf({
  tag: "Merchants",
  callers: "MEMBER_OR_KEY",
  dependencies: attentionDependencies,
}).get("/api/v1/merchants/merchant/:merchantId/attention", {
  operationId: "getAttention",
  summary: "Read what needs attention",
  description:
    "Payments and invoices that wait for a decision, and what is wrong with wallets, networks and endpoints. A kind is listed if it is not empty and the caller may view it. The cost of reading does not depend on how much is waiting.",
  permission: ["payment:view", "invoice:view", "wallet:view", "webhook:view"],
  answers: [{ status: 200, description: "The kinds, most urgent first", schema: attentionBody }],
  reads: ({ db, merchantId, deps }) => attentionReads(db, merchantId, deps.nowMs),
  answer: async (call) => {
    const [unmatched, inReview, underpaid, endpoints, wallets, cursors, warnings] = call.read;
    const maySee = (permission: Permission) => call.principal.permissions.has(permission);
    const data = [
      ...(maySee("wallet:view") ? walletAttention({ wallets, cursors, warnings }, call.deps) : []),
      ...(maySee("payment:view") ? unmatchedAttention(unmatched) : []),
      ...(maySee("invoice:view") ? invoiceAttention({ inReview, underpaid }) : []),
      ...(maySee("webhook:view") ? endpointAttention(endpoints) : []),
    ];
    return ok(jsonReply(200, { data }));
  },
});
