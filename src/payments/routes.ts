import { type MountedRoute, merchantRoute } from "../auth/middleware.ts";
import { jsonReply } from "../http/reply.ts";
import { noBody, noQuery } from "../http/route.ts";
import { invoiceEffects } from "../invoices/effects.ts";
import { fileOf } from "../invoices/invoice.ts";
import { paymentBodyOf } from "../invoices/invoice-body.ts";
import { invoiceReads } from "../invoices/refresh-invoice.ts";
import { err, ok } from "../lib/result.ts";
import { FREE_TEXT } from "../wallets/secret-material.ts";
import {
  invoicePaymentsBody,
  listPaymentsQuery,
  paymentDetailsBody,
  paymentListBody,
  resolvePaymentBody,
} from "./contract.ts";
import { listPayments, paymentPageReads } from "./list-payments.ts";
import { paymentDetailsOf } from "./payment-body.ts";
import { paymentReads } from "./read-payment.ts";
import { assignPayment, ignorePayment } from "./resolve-payment.ts";

const MERCHANT = "/api/v1/merchants/merchant/:merchantId";
const BASE = `${MERCHANT}/payments`;
const ONE = `${BASE}/:paymentId`;

const common = {
  tag: "Payments",
  callers: "MEMBER_OR_KEY",
  isForPublicKeys: false,
  isIdempotent: false,
  query: noQuery,
} as const;
const reading = { ...common, method: "GET", permission: "payment:view", body: noBody } as const;
const noEffects = () => ({});

const list = merchantRoute({
  spec: {
    ...reading,
    path: BASE,
    operationId: "listPayments",
    summary: "List payments, newest first",
    description:
      "What was seen on chain at your addresses: credited to invoices, UNMATCHED where no rule could tell for which, and IGNORED where it is too little.",
    query: listPaymentsQuery,
    answers: [{ status: 200, description: "One page", schema: paymentListBody }],
    refusals: [],
  },
  secrets: FREE_TEXT,
  effects: noEffects,
  reads: ({ db, merchantId, request }) => paymentPageReads(db, merchantId, request?.query),
  answer: async (call) => {
    const [rows, counts] = call.read;
    const page = listPayments({ rows, total: counts[0]?.total ?? 0 }, call.query);
    return page.ok ? ok(jsonReply(200, page.value)) : page;
  },
});

const get = merchantRoute({
  spec: {
    ...reading,
    path: ONE,
    operationId: "getPayment",
    summary: "Read a payment with its evidence",
    description:
      "The block, the source's own words, the rule that credited it, the invoices it refused, the payers' claims.",
    answers: [{ status: 200, description: "The payment", schema: paymentDetailsBody }],
    refusals: ["PAYMENT_NOT_FOUND"],
  },
  secrets: FREE_TEXT,
  effects: noEffects,
  reads: ({ db, merchantId, params }) => paymentReads(db, merchantId, params.paymentId ?? ""),
  answer: async (call) => {
    const [[file]] = call.read;
    return file === undefined ? err({ code: "PAYMENT_NOT_FOUND" }) : ok(jsonReply(200, paymentDetailsOf(file)));
  },
});

const resolve = merchantRoute({
  spec: {
    ...common,
    method: "POST",
    path: `${ONE}/resolve`,
    operationId: "resolvePayment",
    summary: "Decide about a payment that no rule credited",
    description:
      "ASSIGN credits it to one of your invoices, which is settled at once; IGNORE sets it aside. Where several merchants use the address, each decides for itself.",
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
  },
  secrets: FREE_TEXT,
  effects: invoiceEffects,
  reads: ({ db, merchantId, params, request }) => [
    ...paymentReads(db, merchantId, params.paymentId ?? ""),
    ...invoiceReads(db, merchantId, request?.body.invoiceId ?? ""),
  ],
  answer: async (call) => {
    const [[payment], [row]] = call.read;
    if (payment === undefined) return err({ code: "PAYMENT_NOT_FOUND" });
    const fx = { ...call.fx, trail: call.trail };
    const { action, reason } = call.body;
    const { quorumAboveMicros } = call.merchant;
    const file = row === undefined ? undefined : fileOf(row);
    const resolved =
      action === "IGNORE"
        ? await ignorePayment(fx, payment, reason)
        : await assignPayment(fx, payment, { file, reason, quorumAboveMicros });
    return resolved.ok ? ok(jsonReply(200, paymentDetailsOf(resolved.value))) : resolved;
  },
});

const ofInvoice = merchantRoute({
  spec: {
    ...reading,
    path: `${MERCHANT}/invoices/:invoiceId/payments`,
    operationId: "listInvoicePayments",
    summary: "Payments credited to an invoice",
    answers: [{ status: 200, description: "Payments, oldest first", schema: invoicePaymentsBody }],
    refusals: ["INVOICE_NOT_FOUND"],
  },
  secrets: FREE_TEXT,
  effects: noEffects,
  reads: ({ db, merchantId, params }) => invoiceReads(db, merchantId, params.invoiceId ?? ""),
  answer: async (call) => {
    const [[row]] = call.read;
    if (row === undefined) return err({ code: "INVOICE_NOT_FOUND" });
    return ok(jsonReply(200, { data: row.payments.map((payment) => paymentBodyOf(payment, row.cursors)) }));
  },
});

export const paymentRoutes: readonly MountedRoute[] = [list, get, resolve, ofInvoice];
