import type { MountedRoute } from "../auth/middleware.ts";
import { jsonReply } from "../http/reply.ts";
import { noQuery } from "../http/route.ts";
import { ok } from "../lib/result.ts";
import { openRoute } from "../sign-in/middleware.ts";
import { claimBodyOf, claimPayment } from "./claim-payment.ts";
import { claimBody, claimPaymentBody } from "./contract.ts";
import { claimEffects } from "./effects.ts";

const claim = openRoute({
  spec: {
    method: "POST",
    path: "/api/v1/checkout/:invoiceId/claims",
    operationId: "claimPayment",
    tag: "Checkout",
    summary: "Say that a transaction pays an invoice",
    description:
      "For payers: it is looked up at once and kept as evidence. It credits nothing that would not be credited without it. 6 an hour for one invoice, 30 from one IP address; the same again within a minute is answered by the same look.",
    callers: "ANYBODY",
    permission: null,
    isForPublicKeys: false,
    isForAnyOrigin: true,
    isIdempotent: false,
    body: claimPaymentBody,
    query: noQuery,
    answers: [{ status: 202, description: "The claim, and what was found", schema: claimBody }],
    refusals: ["VALIDATION_FAILED", "INVOICE_NOT_FOUND", "NETWORK_NOT_OFFERED", "STORAGE_UNAVAILABLE", "CONTENTION"],
  },
  effects: claimEffects,
  answer: async (call) => {
    const invoiceId = call.params.invoiceId ?? "";
    const claimed = await claimPayment(call.fx, { ...call.body, invoiceId, ip: call.ip });
    return claimed.ok ? ok(jsonReply(202, claimBodyOf(claimed.value))) : claimed;
  },
});

export const claimRoutes: readonly MountedRoute[] = [claim];
