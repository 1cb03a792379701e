import { type MountedRoute, routesOf } from "../../accounts/pipeline/routes-of.ts";
import { fileOf } from "../../commerce/invoice-records/invoice.ts";
import { invoiceDependencies } from "../../commerce/invoices/dependencies.ts";
import { invoiceReads } from "../../commerce/invoices/refresh-invoice.ts";
import {
  invoicePaymentsBody,
  listPaymentsQuery,
  lookUpPaymentBody,
  paymentDetailsBody,
  paymentListBody,
  resolvePaymentBody,
} from "../../commerce/payments/contract.ts";
import { listPayments, paymentPageReads } from "../../commerce/payments/list-payments.ts";
import { paymentBodyOf, paymentDetailsOf } from "../../commerce/payments/payment-body.ts";
import { paymentReads } from "../../commerce/payments/read-payment.ts";
import { err, ok } from "../../lib/result.ts";
import { jsonReply, replyTo } from "../../platform/http/reply.ts";
import { lookUpDependencies } from "./dependencies.ts";
import { lookUpPayment } from "./look-up-payment.ts";
import { assignPayment, setAside } from "./resolve-payment.ts";

const MERCHANT = "/api/v1/merchants/merchant/:merchantId";
const BASE = `${MERCHANT}/payments`;
const ONE = `${BASE}/:paymentId`;

const list = routesOf({ tag: "Payments", callers: "MEMBER_OR_KEY" })
  .get(BASE, {
    operationId: "listPayments",
    summary: "List payments, newest first",
    description:
      "Transfers to your addresses: credited to an invoice, UNMATCHED if no rule could decide on an invoice, or IGNORED if the amount is too small.",
    permission: "payment:view",
    query: listPaymentsQuery,
    answers: [{ status: 200, description: "One page", schema: paymentListBody }],
    reads: ({ db, merchantId, request }) => paymentPageReads(db, merchantId, request?.query),
    answer: async (call) => {
      const [rows, counts] = call.read;
      return replyTo(listPayments({ rows, total: counts[0]?.total ?? 0 }, call.query));
    },
  })
  .get(ONE, {
    operationId: "getPayment",
    summary: "Read a payment with its evidence",
    description:
      "The evidence: the block, the source's answer, the rule that credited the payment, the invoices that were not credited, and the payers' claims.",
    permission: "payment:view",
    answers: [{ status: 200, description: "The payment", schema: paymentDetailsBody }],
    refusals: ["PAYMENT_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => paymentReads(db, merchantId, params.paymentId ?? ""),
    answer: async (call) => {
      const [[file]] = call.read;
      return file === undefined
        ? err({ code: "PAYMENT_NOT_FOUND" })
        : ok(jsonReply(200, paymentDetailsOf(file, call.nowMs)));
    },
  });

const lookUp = routesOf({ tag: "Payments", callers: "MEMBER_OR_KEY", dependencies: lookUpDependencies }).post(
  `${BASE}/lookup`,
  {
    operationId: "lookUpPayment",
    summary: "Look up a transaction by its hash",
    description:
      "Reads the transaction from the chain at once. What it pays to your addresses is credited by the usual rules, or stored as UNMATCHED even if the daily limit of unmatched payments was reached. Returns your payments from this transaction, at most 100; the list is empty if it pays nothing to you. At most 60 calls an hour.",
    permission: "payment:resolve",
    body: lookUpPaymentBody,
    answers: [{ status: 200, description: "Your payments of this transaction", schema: paymentListBody }],
    refusals: ["TRANSACTION_NOT_FOUND", "CHAIN_UNAVAILABLE", "NETWORK_NOT_WATCHED"],
    answer: async (call) => {
      return replyTo(await lookUpPayment(call.deps, { ...call.body, merchantId: call.merchant.id }));
    },
  },
);

const resolve = routesOf({ tag: "Payments", callers: "MEMBER_OR_KEY", dependencies: invoiceDependencies }).post(
  `${ONE}/resolve`,
  {
    operationId: "resolvePayment",
    summary: "Decide about a payment that no rule credited",
    description:
      "ASSIGN credits the payment to one of your invoices, which is settled at once. IGNORE marks it as belonging to no invoice, and records the transaction with which you sent the money back, if you did; REOPEN undoes that. If several merchants use the address, each decides for itself.",
    permission: "payment:resolve",
    body: resolvePaymentBody,
    answers: [{ status: 200, description: "The payment", schema: paymentDetailsBody }],
    refusals: [
      "PAYMENT_NOT_FOUND",
      "PAYMENT_NOT_RESOLVABLE",
      "INVOICE_NOT_FOUND",
      "TOO_MANY_PAYMENTS",
      "RATE_UNAVAILABLE",
    ],
    reads: ({ db, merchantId, params, request }) => [
      ...paymentReads(db, merchantId, params.paymentId ?? ""),
      ...invoiceReads(db, merchantId, request?.body.invoiceId ?? ""),
    ],
    answer: async (call) => {
      const [[payment], [row]] = call.read;
      if (payment === undefined) return err({ code: "PAYMENT_NOT_FOUND" });
      const deps = { ...call.deps, trail: call.trail };
      const { action, reason, txHash } = call.body;
      const { quorumAboveMicros } = call.merchant;
      const file = row === undefined ? undefined : fileOf(row);
      const resolved =
        action === "ASSIGN"
          ? await assignPayment(deps, payment, { file, reason, quorumAboveMicros })
          : await setAside(deps, payment, { action, reason, txHash });
      return replyTo(resolved, (payment) => paymentDetailsOf(payment, call.nowMs));
    },
  },
);

const ofInvoice = routesOf({ tag: "Payments", callers: "MEMBER_OR_KEY" }).get(
  `${MERCHANT}/invoices/:invoiceId/payments`,
  {
    operationId: "listInvoicePayments",
    summary: "List the payments credited to an invoice",
    permission: "payment:view",
    answers: [{ status: 200, description: "Payments, oldest first", schema: invoicePaymentsBody }],
    refusals: ["INVOICE_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => invoiceReads(db, merchantId, params.invoiceId ?? ""),
    answer: async (call) => {
      const [[row]] = call.read;
      if (row === undefined) return err({ code: "INVOICE_NOT_FOUND" });
      return ok(jsonReply(200, { data: row.payments.map((payment) => paymentBodyOf(payment, row.cursors)) }));
    },
  },
);

export const paymentRoutes: readonly MountedRoute[] = [...list, ...lookUp, ...resolve, ...ofInvoice];
