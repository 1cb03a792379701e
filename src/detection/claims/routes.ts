import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { replyTo } from "../../platform/http/reply.ts";
import { claimBodyOf, claimPayment, readStanding } from "./claim-payment.ts";
import { claimBody, claimPaymentBody } from "./contract.ts";
import { claimDependencies } from "./dependencies.ts";

export const claimRoutes = routesOf({ tag: "Checkout", callers: "ANYBODY", dependencies: claimDependencies }).post(
  "/api/v1/checkout/:invoiceId/claims",
  {
    operationId: "claimPayment",
    summary: "Say that a transaction pays an invoice",
    description:
      "For payers. The transaction is looked up at once and the claim is kept as evidence. A claim credits nothing that would not be credited without it. At most 6 claims an hour for one invoice, and 30 an hour from one IP address. A claim repeated within a minute gets the result of the earlier lookup and the newest `standing`.",
    isForAnyOrigin: true,
    body: claimPaymentBody,
    answers: [{ status: 202, description: "The claim with the result of the lookup", schema: claimBody }],
    refusals: ["VALIDATION_FAILED", "INVOICE_NOT_FOUND", "NETWORK_NOT_OFFERED", "STORAGE_UNAVAILABLE", "CONTENTION"],
    answer: async (call) => {
      const invoiceId = call.params.invoiceId ?? "";
      const claimed = await claimPayment(call.deps, { ...call.body, invoiceId, ip: call.ip });
      if (!claimed.ok) return claimed;
      return replyTo(await readStanding(call.deps, claimed.value), (value) => claimBodyOf(claimed.value, value), 202);
    },
  },
);
