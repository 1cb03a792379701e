import type { Statements } from "../auth/authenticate.ts";
import { type MerchantCall, type MountedRoute, merchantRoute } from "../auth/middleware.ts";
import { isPublicKey } from "../auth/principal.ts";
import type { Failure } from "../failures.ts";
import type { Reply } from "../http/reply.ts";
import { noBody, noQuery } from "../http/route.ts";
import { answerOnce } from "../idempotency/middleware.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { FREE_TEXT, WALLET_FIELDS } from "../wallets/secret-material.ts";
import { addPaymentMethod, type PickEffects } from "./add-payment-method.ts";
import { cancelInvoice } from "./cancel-invoice.ts";
import {
  type CreateInvoiceBody,
  createInvoiceBody,
  invoiceBody,
  invoiceForAnyKey,
  invoiceListBody,
  listInvoicesQuery,
  methodListBody,
  PICK_ANSWERS,
  PICK_REFUSALS,
  pairBody,
  resolveInvoiceBody,
  updateInvoiceBody,
} from "./contract.ts";
import { createFacts, createInvoice, createReads, type NewInvoice } from "./create-invoice.ts";
import { invoiceEffects } from "./effects.ts";
import { fileOf, type InvoiceFile, type InvoiceRow } from "./invoice.ts";
import { invoiceBodyOf, publicInvoiceBody } from "./invoice-body.ts";
import { listInvoices, pageReads } from "./list-invoices.ts";
import { listMethods, methodReads } from "./list-methods.ts";
import { canonicalPairs, pricesJson } from "./payment-method.ts";
import { askedAmount } from "./product-terms.ts";
import { invoiceReads, type RefreshEffects, refreshInvoice } from "./refresh-invoice.ts";
import { resolveInvoice } from "./resolve-invoice.ts";
import { updateInvoiceText } from "./update-invoice.ts";

const BASE = "/api/v1/merchants/merchant/:merchantId/invoices";
const ONE = `${BASE}/:invoiceId`;

const create = merchantRoute({
  spec: {
    method: "POST",
    path: BASE,
    operationId: "createInvoice",
    tag: "Invoices",
    summary: "Create an invoice",
    description:
      "Send an Idempotency-Key with every call. Named payment methods are activated at once, and so is the only available one.",
    callers: "MEMBER_OR_KEY",
    permission: "invoice:create",
    isForPublicKeys: true,
    isIdempotent: true,
    body: createInvoiceBody,
    query: noQuery,
    answers: [{ status: 201, description: "The invoice", schema: invoiceForAnyKey }],
    refusals: [
      "EXTERNAL_ID_EXISTS",
      "PRODUCT_NOT_FOUND",
      "PRODUCT_NOT_AVAILABLE",
      "NO_ENABLED_WALLET",
      "UNSUPPORTED_PAIR",
      "TOO_MANY_ACTIVE_INVOICES",
      "PRIVATE_KEY_REFUSED",
    ],
  },
  secrets: FREE_TEXT,
  effects: invoiceEffects,
  reads: async ({ db, fx, merchantId, request }) => {
    const body = request?.body;
    const pairs = canonicalPairs(body?.paymentMethods ?? []);
    const amount = body === undefined ? undefined : askedAmount(body);
    const isPriced = amount !== undefined && pairs.ok && pairs.value.length > 0;
    const prices = isPriced ? pricesJson({ rates: await fx.table(), nowMs: fx.nowMs }, amount, pairs.value) : "{}";
    return createReads(db, merchantId, { ...body, prices });
  },
  answer: async (call) => {
    const { body, principal, merchant, read } = call;
    const isFromPublicKey = isPublicKey(principal);
    if (isFromPublicKey && asksMoreThanPublic(body)) return err({ code: "PUBLIC_KEY_FORBIDDEN" });
    const pairs = canonicalPairs(body.paymentMethods ?? []);
    if (!pairs.ok) return pairs;
    const { paymentMethods, ...rest } = body;
    const invoice: NewInvoice = { ...rest, pairs: paymentMethods === undefined ? undefined : pairs.value };
    const facts = createFacts(read);
    return answerOnce(call, createInvoice(acting(call), { merchant, isFromPublicKey, invoice, facts }));
  },
});

const list = merchantRoute({
  spec: {
    method: "GET",
    path: BASE,
    operationId: "listInvoices",
    tag: "Invoices",
    summary: "List invoices, newest first",
    callers: "MEMBER_OR_KEY",
    permission: "invoice:view",
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: listInvoicesQuery,
    answers: [{ status: 200, description: "One page", schema: invoiceListBody }],
    refusals: [],
  },
  secrets: FREE_TEXT,
  effects: invoiceEffects,
  reads: ({ db, merchantId, request }) => pageReads(db, merchantId, request?.query),
  answer: async (call) => {
    const [rows, counts, cursors] = call.read;
    const page = listInvoices({ rows, total: counts[0]?.total ?? 0, cursors }, call.query, call.fx.body);
    return page.ok ? json(200, page.value) : page;
  },
});

const get = merchantRoute({
  spec: {
    method: "GET",
    path: ONE,
    operationId: "getInvoice",
    tag: "Invoices",
    summary: "Read an invoice as it is true now",
    callers: "MEMBER_OR_KEY",
    permission: "invoice:view",
    isForPublicKeys: true,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 200, description: "The invoice", schema: invoiceForAnyKey }],
    refusals: ["INVOICE_NOT_FOUND", "CONTENTION"],
  },
  secrets: FREE_TEXT,
  effects: invoiceEffects,
  reads: ({ db, merchantId, params }) => invoiceReads(db, merchantId, params.invoiceId ?? ""),
  answer: async (call) => {
    const file = await currentFile(call, call.read[0]);
    return file.ok ? invoiceReply(call, 200, file.value) : file;
  },
});

const update = merchantRoute({
  spec: {
    method: "PATCH",
    path: ONE,
    operationId: "updateInvoice",
    tag: "Invoices",
    summary: "Change what an invoice says, while it awaits payment",
    callers: "MEMBER_OR_KEY",
    permission: "invoice:update",
    isForPublicKeys: false,
    isIdempotent: false,
    body: updateInvoiceBody,
    query: noQuery,
    answers: [{ status: 200, description: "The invoice", schema: invoiceBody }],
    refusals: ["INVOICE_NOT_FOUND", "INVOICE_NOT_EDITABLE", "PRIVATE_KEY_REFUSED"],
  },
  secrets: FREE_TEXT,
  effects: invoiceEffects,
  reads: ({ db, merchantId, params }) => invoiceReads(db, merchantId, params.invoiceId ?? ""),
  answer: async (call) => {
    const file = await currentFile(call, call.read[0]);
    if (!file.ok) return file;
    const changed = await updateInvoiceText(acting(call), file.value, call.body);
    return changed.ok ? invoiceReply(call, 200, changed.value) : changed;
  },
});

const cancel = merchantRoute({
  spec: {
    method: "POST",
    path: `${ONE}/cancel`,
    operationId: "cancelInvoice",
    tag: "Invoices",
    summary: "Cancel an invoice that has seen no money",
    callers: "MEMBER_OR_KEY",
    permission: "invoice:cancel",
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 200, description: "The invoice", schema: invoiceBody }],
    refusals: ["INVOICE_NOT_FOUND", "INVOICE_HAS_PAYMENTS", "INVOICE_NOT_CANCELLABLE"],
  },
  secrets: FREE_TEXT,
  effects: invoiceEffects,
  reads: ({ db, merchantId, params }) => invoiceReads(db, merchantId, params.invoiceId ?? ""),
  answer: async (call) => {
    const file = await currentFile(call, call.read[0]);
    if (!file.ok) return file;
    const cancelled = await cancelInvoice(acting(call), file.value);
    return cancelled.ok ? invoiceReply(call, 200, cancelled.value) : cancelled;
  },
});

const resolve = merchantRoute({
  spec: {
    method: "POST",
    path: `${ONE}/resolve`,
    operationId: "resolveInvoice",
    tag: "Invoices",
    summary: "Decide about an invoice that no rule could settle",
    description:
      "ACCEPT makes it PAID whatever was received. DISMISS takes it out of the review queue, and so does RETURNED, which notes that you sent the money back.",
    callers: "MEMBER_OR_KEY",
    permission: "payment:resolve",
    isForPublicKeys: false,
    isIdempotent: false,
    body: resolveInvoiceBody,
    query: noQuery,
    answers: [{ status: 200, description: "The invoice", schema: invoiceBody }],
    refusals: ["INVOICE_NOT_FOUND", "INVOICE_NOT_RESOLVABLE", "NOTHING_TO_REVIEW"],
  },
  secrets: FREE_TEXT,
  effects: invoiceEffects,
  reads: ({ db, merchantId, params }) => invoiceReads(db, merchantId, params.invoiceId ?? ""),
  answer: async (call) => {
    const file = await currentFile(call, call.read[0]);
    if (!file.ok) return file;
    const resolved = await resolveInvoice(acting(call), file.value, call.body);
    return resolved.ok ? invoiceReply(call, 200, resolved.value) : resolved;
  },
});

const methods = merchantRoute({
  spec: {
    method: "GET",
    path: `${ONE}/payment-methods`,
    operationId: "listPaymentMethods",
    tag: "Invoices",
    summary: "Ways to pay an invoice: active ones, and those that can be picked",
    callers: "MEMBER_OR_KEY",
    permission: "invoice:view",
    isForPublicKeys: true,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 200, description: "Payment methods", schema: methodListBody }],
    refusals: ["INVOICE_NOT_FOUND", "CONTENTION"],
  },
  secrets: FREE_TEXT,
  effects: invoiceEffects,
  reads: ({ db, merchantId, params }) => methodReads(db, merchantId, params.invoiceId ?? ""),
  answer: async (call) => {
    const file = await currentFile(call, call.read[0]);
    if (!file.ok) return file;
    const [, wallets, cursors] = call.read;
    const { body, isWatched } = call.fx;
    return json(200, { data: listMethods(file.value, wallets, { ...body, isWatched, cursors }) });
  },
});

const pick = merchantRoute({
  spec: {
    method: "POST",
    path: `${ONE}/payment-methods`,
    operationId: "activatePaymentMethod",
    tag: "Invoices",
    summary: "Pick a way to pay: locks the rate and gives an address or an amount",
    callers: "MEMBER_OR_KEY",
    permission: "invoice:create",
    isForPublicKeys: true,
    isIdempotent: true,
    body: pairBody,
    query: noQuery,
    answers: PICK_ANSWERS,
    refusals: PICK_REFUSALS,
  },
  // A pair is never free text.
  secrets: WALLET_FIELDS,
  effects: invoiceEffects,
  reads: ({ db, merchantId, params }) => invoiceReads(db, merchantId, params.invoiceId ?? ""),
  answer: async (call) => {
    const [row] = call.read[0];
    if (row === undefined) return err({ code: "INVOICE_NOT_FOUND" });
    const pairs = canonicalPairs([call.body]);
    if (!pairs.ok) return pairs;
    const [pair] = pairs.value;
    if (pair === undefined) throw new Error("one pair in, none out");
    const isFromPublicKey = isPublicKey(call.principal);
    return answerOnce(call, addPaymentMethod(acting(call), { pair, isFromPublicKey, file: fileOf(row) }));
  },
});

export const invoiceRoutes: readonly MountedRoute[] = [create, list, get, update, cancel, resolve, methods, pick];

/** The world of a call that changes an invoice: with who does it. */
function acting<B, Q, R extends Statements>(call: MerchantCall<B, Q, R, RefreshEffects>): PickEffects {
  return { ...call.fx, trail: call.trail };
}

/** The invoice that was read, settled and quoted as of now. */
async function currentFile<B, Q, R extends Statements>(
  call: MerchantCall<B, Q, R, RefreshEffects>,
  rows: readonly InvoiceRow[],
): Promise<Result<InvoiceFile, Failure>> {
  const [row] = rows;
  if (row === undefined) return err({ code: "INVOICE_NOT_FOUND" });
  return refreshInvoice(call.fx, fileOf(row));
}

function invoiceReply<B, Q, R extends Statements>(
  call: MerchantCall<B, Q, R, RefreshEffects>,
  status: number,
  file: InvoiceFile,
): Result<Reply, Failure> {
  const body = invoiceBodyOf(file, call.fx.body);
  return json(status, isPublicKey(call.principal) ? publicInvoiceBody(body) : body);
}

function json(status: number, body: object): Result<Reply, Failure> {
  return ok({ status, body: JSON.stringify(body) });
}

/** decisions 7: what a browser may not say when it creates an invoice. */
function asksMoreThanPublic(body: CreateInvoiceBody): boolean {
  const { externalId, metadata, expiresInSeconds, paymentMethods } = body;
  return (
    [externalId, metadata, expiresInSeconds].some((each) => each !== undefined) || (paymentMethods?.length ?? 0) > 1
  );
}
