import { isPublicKey } from "../../accounts/auth/principal.ts";
import { answerOnce, type OnceOptions } from "../../accounts/pipeline/answer-once.ts";
import type { MerchantCall } from "../../accounts/pipeline/call.ts";
import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { canonicalPairs } from "../../chains/registry/pair.ts";
import { WALLET_FIELDS } from "../../chains/secrets/secret-material.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { challengeOf } from "../../platform/challenge/dependencies.ts";
import { passChallenge } from "../../platform/challenge/pass-challenge.ts";
import { hostnameOf } from "../../platform/challenge/turnstile.ts";
import type { Failure } from "../../platform/failures.ts";
import { countedCallers } from "../../platform/http/rate-check.ts";
import { jsonReply, type Reply, replyTo } from "../../platform/http/reply.ts";
import { mailerOf } from "../../platform/mail/dependencies.ts";
import { fileOf, type InvoiceFile, type InvoiceRow } from "../invoice-records/invoice.ts";
import { addPaymentMethod, type PickDependencies } from "./add-payment-method.ts";
import { advisedBodyOf } from "./advise-invoice.ts";
import { cancelInvoice } from "./cancel-invoice.ts";
import {
  asksMoreThanPublic,
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
import { invoiceDependencies } from "./dependencies.ts";
import { invoiceBodyOf, publicInvoiceBody } from "./invoice-body.ts";
import { listInvoices, pageReads } from "./list-invoices.ts";
import { listMethods, methodReads } from "./list-methods.ts";
import { invoiceReads, type RefreshDependencies, refreshInvoice } from "./refresh-invoice.ts";
import { resolveInvoice } from "./resolve-invoice.ts";
import { updateInvoiceText } from "./update-invoice.ts";

const BASE = "/api/v1/merchants/merchant/:merchantId/invoices";
const ONE = `${BASE}/:invoiceId`;

export const invoiceRoutes = routesOf({ tag: "Invoices", callers: "MEMBER_OR_KEY", dependencies: invoiceDependencies })
  .post(BASE, {
    operationId: "createInvoice",
    summary: "Create an invoice",
    description:
      "Send an Idempotency-Key with every call. The named payment methods are activated at once. If none is named and only one is available, that one is activated.",
    permission: "invoice:create",
    isForPublicKeys: true,
    isIdempotent: true,
    isChallenged: true,
    runsInMerchantObject: true,
    body: createInvoiceBody,
    answers: [{ status: 201, description: "The invoice", schema: invoiceForAnyKey }],
    refusals: [
      "EXTERNAL_ID_EXISTS",
      "PRODUCT_NOT_FOUND",
      "PRODUCT_NOT_AVAILABLE",
      "PRICE_IS_FIXED",
      "NO_ENABLED_WALLET",
      "UNSUPPORTED_PAIR",
      "MERCHANT_SUSPENDED",
      "TOO_MANY_ACTIVE_INVOICES",
      "CURRENCY_NOT_PRICED",
      "LIMIT_REACHED",
      "PRIVATE_KEY_REFUSED",
    ],
    reads: ({ db, merchantId, request }) => createReads(db, merchantId, request?.body ?? {}),
    answer: async (call) => {
      const { body, principal, merchant, read } = call;
      const origin = isPublicKey(principal) ? "PUBLIC_KEY" : "API";
      if (origin === "PUBLIC_KEY" && asksMoreThanPublic(body)) return err({ code: "PUBLIC_KEY_FORBIDDEN" });
      const pairs = canonicalPairs(body.paymentMethods ?? []);
      if (!pairs.ok) return pairs;
      const { paymentMethods, ...rest } = body;
      const invoice: NewInvoice = { ...rest, pairs: paymentMethods === undefined ? undefined : pairs.value };
      const facts = createFacts(read);
      const callers = countedCallers(call.env, call.trail.ip);
      const admit = origin === "PUBLIC_KEY" ? challengeOfBrowser(call) : undefined;
      return answerOnce(call, createInvoice(acting(call), { merchant, origin, callers, invoice, facts }), { admit });
    },
  })
  .get(BASE, {
    operationId: "listInvoices",
    summary: "List invoices, newest first",
    permission: "invoice:view",
    query: listInvoicesQuery,
    answers: [{ status: 200, description: "One page", schema: invoiceListBody }],
    reads: ({ db, merchantId, request }) => pageReads(db, merchantId, request?.query),
    answer: async (call) => {
      const [rows, counts, cursors] = call.read;
      const page = listInvoices({ rows, total: counts[0]?.total ?? 0, cursors }, call.query, call.deps.body);
      return replyTo(page);
    },
  })
  .get(ONE, {
    operationId: "getInvoice",
    summary: "Read an invoice in its current state",
    permission: "invoice:view",
    isForPublicKeys: true,
    answers: [{ status: 200, description: "The invoice", schema: invoiceForAnyKey }],
    refusals: ["INVOICE_NOT_FOUND", "CONTENTION"],
    reads: ({ db, merchantId, params }) => invoiceReads(db, merchantId, params.invoiceId ?? ""),
    answer: async (call) => {
      const file = await currentFile(call, call.read[0]);
      return invoiceReply(call, file);
    },
  })
  .patch(ONE, {
    operationId: "updateInvoice",
    summary: "Update an invoice's texts and customer while it awaits payment",
    permission: "invoice:update",
    body: updateInvoiceBody,
    answers: [{ status: 200, description: "The invoice", schema: invoiceBody }],
    refusals: ["INVOICE_NOT_FOUND", "INVOICE_NOT_EDITABLE", "PRIVATE_KEY_REFUSED"],
    reads: ({ db, merchantId, params }) => invoiceReads(db, merchantId, params.invoiceId ?? ""),
    answer: (call) => changed(call, (deps, file) => updateInvoiceText(deps, file, call.body)),
  })
  .post(`${ONE}/cancel`, {
    operationId: "cancelInvoice",
    summary: "Cancel an invoice that has received no payment",
    permission: "invoice:cancel",
    answers: [{ status: 200, description: "The invoice", schema: invoiceBody }],
    refusals: ["INVOICE_NOT_FOUND", "INVOICE_HAS_PAYMENTS", "INVOICE_NOT_CANCELLABLE"],
    reads: ({ db, merchantId, params }) => invoiceReads(db, merchantId, params.invoiceId ?? ""),
    answer: (call) => changed(call, cancelInvoice),
  })
  .post(`${ONE}/resolve`, {
    operationId: "resolveInvoice",
    summary: "Resolve an invoice by hand",
    description:
      "ACCEPT makes it PAID, whatever was received. DISMISS removes it from the review queue. RETURNED does the same and records that you sent the money back; it is also allowed for an UNDERPAID or OVERPAID invoice that is not in review. ASK_FOR_REST is for an EXPIRED or UNDERPAID invoice that received some money and is still monitored: late payments count from now on, and its page asks for the missing amount. MARK records that you consider it settled: its status still reflects what was received, `invoice.marked` is sent, and every owner and admin is mailed.",
    permission: "payment:resolve",
    body: resolveInvoiceBody,
    answers: [{ status: 200, description: "The invoice", schema: invoiceBody }],
    refusals: ["INVOICE_NOT_FOUND", "INVOICE_NOT_RESOLVABLE", "NOTHING_TO_REVIEW"],
    reads: ({ db, merchantId, params }) => invoiceReads(db, merchantId, params.invoiceId ?? ""),
    answer: (call) =>
      changed(call, (deps, file) => resolveInvoice({ ...deps, mailer: mailerOf(call.env, call) }, file, call.body)),
  })
  .get(`${ONE}/payment-methods`, {
    operationId: "listPaymentMethods",
    summary: "List an invoice's payment methods: active, available and unavailable",
    permission: "invoice:view",
    isForPublicKeys: true,
    answers: [{ status: 200, description: "All payment methods", schema: methodListBody }],
    refusals: ["INVOICE_NOT_FOUND", "CONTENTION"],
    reads: ({ db, merchantId, params }) => methodReads(db, merchantId, params.invoiceId ?? ""),
    answer: async (call) => {
      const file = await currentFile(call, call.read[0]);
      if (!file.ok) return file;
      const [, wallets, cursors] = call.read;
      const { body, isWatched } = call.deps;
      return ok(jsonReply(200, { data: listMethods(file.value, wallets, { ...body, isWatched, cursors }) }));
    },
  })
  .post(`${ONE}/payment-methods`, {
    operationId: "activatePaymentMethod",
    summary: "Activate a payment method: locks the rate and assigns an address or an amount",
    permission: "invoice:create",
    isForPublicKeys: true,
    isIdempotent: true,
    body: pairBody,
    answers: PICK_ANSWERS,
    refusals: PICK_REFUSALS,
    // A pair is not free text, so it is searched for all forms of private keys.
    secrets: WALLET_FIELDS,
    reads: ({ db, merchantId, params }) => invoiceReads(db, merchantId, params.invoiceId ?? ""),
    answer: async (call) => {
      const [row] = call.read[0];
      if (row === undefined) return err({ code: "INVOICE_NOT_FOUND" });
      const pairs = canonicalPairs([call.body]);
      if (!pairs.ok) return pairs;
      const [pair] = pairs.value;
      if (pair === undefined) throw new Error("canonicalPairs returned no pair for one");
      const isFromPublicKey = isPublicKey(call.principal);
      const callers = countedCallers(call.env, call.trail.ip);
      return answerOnce(call, addPaymentMethod(acting(call), { pair, isFromPublicKey, callers, file: fileOf(row) }));
    },
  });

/** Dependencies of an invoice change, with its author. */
function acting(call: MerchantCall<RefreshDependencies>): PickDependencies {
  return { ...call.deps, trail: call.trail };
}

/**
 * The challenge for a browser's create request; undefined if the deployment has no challenge. The page belongs to the shop, so the host is taken from
 * its Origin header.
 */
function challengeOfBrowser({ env, ip, origin, challengeToken: token }: MerchantCall<unknown>): OnceOptions["admit"] {
  const challenge = challengeOf(env);
  if (challenge === undefined) return undefined;
  const hostname = hostnameOf(origin);
  return (operation) => passChallenge(challenge, { action: "invoice", hostname, token, ip, operation });
}

/** The invoice, settled and with fresh quotes. */
async function currentFile(
  call: MerchantCall<RefreshDependencies>,
  rows: readonly InvoiceRow[],
): Promise<Result<InvoiceFile, Failure>> {
  const [row] = rows;
  if (row === undefined) return err({ code: "INVOICE_NOT_FOUND" });
  return refreshInvoice(call.deps, fileOf(row));
}

/** Applies `change` to the invoice's current state, and responds with the result. */
async function changed(
  call: MerchantCall<RefreshDependencies, ReturnType<typeof invoiceReads>>,
  change: (deps: PickDependencies, file: InvoiceFile) => Promise<Result<InvoiceFile, Failure>>,
): Promise<Result<Reply, Failure>> {
  const file = await currentFile(call, call.read[0]);
  return invoiceReply(call, file.ok ? await change(acting(call), file.value) : file);
}

function invoiceReply(
  call: MerchantCall<RefreshDependencies>,
  file: Result<InvoiceFile, Failure>,
): Result<Reply, Failure> {
  return replyTo(file, (shown) => {
    const { body } = call.deps;
    return isPublicKey(call.principal) ? publicInvoiceBody(invoiceBodyOf(shown, body)) : advisedBodyOf(shown, body);
  });
}
