import { settingsOf } from "../../accounts/merchants/settings.ts";
import { type MountedRoute, routesOf } from "../../accounts/pipeline/routes-of.ts";
import { pairKey } from "../../chains/registry/pair.ts";
import { recordLocation } from "../../commerce/customers/record-location.ts";
import type { InvoiceFile } from "../../commerce/invoice-records/invoice.ts";
import { PICK_ANSWERS, PICK_REFUSALS, pairBody } from "../../commerce/invoices/contract.ts";
import { claimPayment } from "../../detection/claims/claim-payment.ts";
import { claimDependencies } from "../../detection/claims/dependencies.ts";
import { parseId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { inTime } from "../../platform/db/unanswered.ts";
import type { Failure } from "../../platform/failures.ts";
import { setPageCookie } from "../../platform/http/cookies.ts";
import { jsonReply } from "../../platform/http/reply.ts";
import { returnDependencies } from "../signed-redirect/dependencies.ts";
import { returnUrlFor } from "../signed-redirect/sign-return.ts";
import { SCRIPT_PATH } from "./assets.generated.ts";
import { checkoutBodyOf } from "./checkout-body.ts";
import { checkoutMain, checkoutPage } from "./checkout-page.tsx";
import { type Chrome, linkTo } from "./chrome.ts";
import { checkoutBody, checkoutQuery, claimForm, methodForm, modalQuery, pageQuery } from "./contract.ts";
import { type CheckoutDependencies, checkoutDependencies } from "./dependencies.ts";
import { type Estimates, NO_ESTIMATES } from "./estimates.ts";
import { findShown } from "./find-shown.ts";
import { claimNote, type Note, pickNote } from "./note.ts";
import { type PageCall, type PageReply, pagesOf } from "./pages-of.tsx";
import { pairNamed, pickMethod } from "./pick-method.ts";
import {
  type Checkout,
  findCheckout,
  keepLanguage,
  readCheckout,
  refreshCheckout,
  type StoredCheckout,
} from "./read-checkout.ts";
import { readEstimates } from "./read-estimates.ts";
import { receiptPage } from "./receipt-page.tsx";
import { cookieOf, viewOf } from "./shown-copy.ts";
import { type CheckoutView, checkoutView, soleWay } from "./view.ts";

const ONE = "/pay/:invoiceId";

const paying = pagesOf(checkoutDependencies)
  .get(ONE, {
    operationId: "showCheckout",
    summary: "Show the page where a customer pays",
    description: "If there is only one payment method to choose, it is chosen automatically.",
    query: checkoutQuery,
    answers: [{ status: 200, description: "The page, whatever the invoice's status", alsoAs: "text/html" }],
    answer: async (call) => {
      const { db, sleep, nowMs: sinceMs } = call.deps;
      const waiting = { d1: db.$client, sleep, sinceMs, background: call.background };
      const finding = findCheckout(call.deps, call.params.invoiceId ?? "", call.query.claim);
      const found = await inTime(waiting, finding, err);
      if (!found.ok) return (await pageAgain(call, found.error)) ?? found;
      // What was just read is newer than any copy, even if the invoice could not be settled.
      const opened = await inTime(waiting, refreshCheckout(call.deps, found.value), err);
      if (!opened.ok) return opened;
      const { file, methods } = opened.value;
      const { isHead, deps, ip, requestId } = call;
      if (!isHead) noteVisit(call, opened.value);
      const sole = isHead ? undefined : soleWay({ file, methods, nowMs: deps.nowMs });
      if (sole === undefined) return ok(await keptPage(call, opened.value, call.query.note));
      const picked = await pickMethod(deps, { file, named: sole, ip, requestId });
      if (!picked.ok) return ok(await pageOf(call, opened.value, pickNote(picked.error)));
      const again = await readCheckout(deps, file.invoice.id, call.query.claim);
      return again.ok ? ok(await keptPage(call, again.value, call.query.note)) : again;
    },
  })
  .get(`${ONE}/state`, {
    operationId: "showCheckoutState",
    summary: "Show the part of the page that changes while it is open",
    query: checkoutQuery,
    answers: [
      { status: 200, description: "The page's <main>, with an ETag", alsoAs: "text/html" },
      { status: 304, description: "Unchanged since the ETag in If-None-Match" },
    ],
    answer: async (call) => {
      const read = await readCheckout(call.deps, call.params.invoiceId ?? "", call.query.claim);
      if (!read.ok) return read;
      const { shown, frameAncestors } = await shownOf(call, read.value, call.query.note);
      const headers = keepShown(call, shown.view, read.value.merchant.id);
      const part = { html: checkoutMain(shown), frameAncestors, drawnFrom: drawnFrom(shown), headers };
      return ok({ kind: "page", status: 200, ...part });
    },
  })
  .post(`${ONE}/methods`, {
    operationId: "pickOnCheckout",
    summary: "Choose a payment method on the page",
    body: methodForm,
    query: pageQuery,
    answers: [
      { status: 303, description: "Redirect to the page, which shows the reason if the method could not be chosen" },
    ],
    answer: async (call) => {
      const found = await findCheckout(call.deps, call.params.invoiceId ?? "");
      if (!found.ok) return found;
      const { file } = found.value;
      const { ip, requestId, body: form } = call;
      const picked = await pickMethod(call.deps, { file, named: pairNamed(form.method), ip, requestId });
      const query = picked.ok ? { method: pairKey(picked.value.pair) } : { choose: "1", note: pickNote(picked.error) };
      return ok(backTo(call.chrome, file.invoice.id, query));
    },
  });

const claiming = pagesOf(claimDependencies).post(`${ONE}/claims`, {
  operationId: "claimOnCheckout",
  summary: "Claim on the page that a transaction pays the invoice",
  body: claimForm,
  query: pageQuery,
  answers: [
    { status: 303, description: "Redirect to the page, which shows how the transaction relates to the invoice" },
  ],
  answer: async (call) => {
    const found = await findCheckout(call.deps, call.params.invoiceId ?? "");
    if (!found.ok) return found;
    const invoiceId = found.value.file.invoice.id;
    const { network, txHash } = call.body;
    const claimed = await claimPayment(call.deps, { invoiceId, network, txHash: txHash.trim(), ip: call.ip });
    const query = claimed.ok ? { claim: claimed.value.id } : { note: claimNote(claimed.error) };
    return ok(backTo(call.chrome, invoiceId, query));
  },
});

const paid = pagesOf(checkoutDependencies)
  .get(`${ONE}/receipt`, {
    operationId: "showReceipt",
    summary: "Show the receipt for printing",
    query: pageQuery,
    answers: [{ status: 200, description: "The receipt, or a note that there is none yet", alsoAs: "text/html" }],
    answer: async (call) => {
      const read = await readCheckout(call.deps, call.params.invoiceId ?? "");
      if (!read.ok) return read;
      const { shown, frameAncestors } = await shownOf({ ...call, query: {} }, read.value, undefined);
      // The receipt's own path, so that its language links lead to the receipt.
      const chrome = { ...shown.chrome, path: `${shown.chrome.path}/receipt` };
      return ok({ kind: "page", status: 200, html: receiptPage({ ...shown, chrome }), frameAncestors });
    },
  })
  .get(`${ONE}/return`, {
    operationId: "returnToShop",
    summary: "Return to the shop",
    query: pageQuery,
    answers: [
      {
        status: 303,
        description: "Redirect to the invoice's signed `redirectUrl` if it is paid, otherwise to the page",
      },
    ],
    answer: async (call) => {
      const read = await readCheckout(call.deps, call.params.invoiceId ?? "");
      if (!read.ok) return read;
      const { file } = read.value;
      const location = await signedReturn(call.env, file, call.deps.nowMs);
      return ok(location === null ? backTo(call.chrome, file.invoice.id) : { kind: "redirect", location });
    },
  });

// The paths of BTCPay Server's pages, which its plugins for shops fill with the invoice's id. Nothing is read here, because /pay reads the invoice.
const asBtcpay = pagesOf(() => ({}))
  .get("/i/:invoiceId", {
    operationId: "showCheckoutAsBtcpay",
    summary: "Show the page where a customer pays",
    description: "The path that BTCPay Server uses.",
    query: pageQuery,
    answers: [{ status: 303, description: "Redirect to the page" }],
    answer: async ({ chrome, params }) => pageAt(chrome, params.invoiceId ?? ""),
  })
  .get("/invoice", {
    operationId: "showModalAsBtcpay",
    summary: "Show the page where a customer pays",
    description: "The path that BTCPay Server uses. `/modal/btcpay.js` shows it in a frame.",
    query: modalQuery,
    answers: [{ status: 303, description: "Redirect to the page" }],
    answer: async ({ chrome, query }) => pageAt(chrome, query.id ?? ""),
  });

const forOwnPages = routesOf({
  tag: "Checkout",
  callers: "ANYBODY",
  dependencies: checkoutDependencies,
  isForAnyOrigin: true,
})
  .get("/api/v1/checkout/:invoiceId", {
    operationId: "getCheckout",
    summary: "Read an invoice as its payer sees it",
    description:
      "Contains no customer data, metadata or externalId. `paymentMethods` includes methods that can still be chosen.",
    answers: [{ status: 200, description: "The invoice in its current state", schema: checkoutBody }],
    refusals: ["INVOICE_NOT_FOUND", "CONTENTION", "STORAGE_UNAVAILABLE"],
    answer: async ({ deps, env, params }) => {
      const read = await readCheckout(deps, params.invoiceId ?? "");
      if (!read.ok) return read;
      const { file, methods, arrived } = read.value;
      const redirectUrl = await signedReturn(env, file, deps.nowMs);
      const merchant = withSettings(read.value);
      const estimates = await readEstimates(deps, read.value);
      const { hasSource } = deps;
      const shown = { file, merchant, methods, estimates, arrived, hasSource, redirectUrl };
      return ok(jsonReply(200, checkoutBodyOf(shown, deps.body)));
    },
  })
  .post("/api/v1/checkout/:invoiceId/payment-methods", {
    operationId: "pickPaymentMethod",
    summary: "Choose a payment method as a payer",
    description:
      "Locks the rate and assigns an address or an amount, like the merchant's own route. At most 30 a minute from one IP address. Idempotency-Keys of this route are separate from those that a server sends.",
    isIdempotent: true,
    body: pairBody,
    answers: PICK_ANSWERS,
    refusals: [...PICK_REFUSALS, "STORAGE_UNAVAILABLE", "CONTENTION"],
    answer: async ({ deps, params, body: named, ip, requestId, idempotencyKey: key, path, json }) => {
      const found = await findCheckout(deps, params.invoiceId ?? "");
      if (!found.ok) return found;
      const picked = await pickMethod(deps, { ...found.value, named, ip, requestId, keyed: { key, path, json } });
      if (!picked.ok) return picked;
      const { status, body, isReplay } = picked.value;
      return ok({ status, body, headers: isReplay ? { "idempotent-replayed": "true" } : {} });
    },
  });

export const checkoutRoutes: readonly MountedRoute[] = [...paying, ...claiming, ...paid, ...asBtcpay, ...forOwnPages];

interface Showing {
  readonly chrome: Chrome;
  readonly query: { readonly method?: string | undefined; readonly choose?: string | undefined };
  readonly deps: Pick<CheckoutDependencies, "nowMs" | "table" | "hasSource">;
}

/** Stores what a visit reveals about the payer; the page does not wait for it. */
function noteVisit(call: PageCall<unknown, unknown, CheckoutDependencies>, checkout: StoredCheckout): void {
  const { deps, chrome, location } = call;
  const { customer } = checkout.file;
  call.background(keepLanguage(deps, checkout, chrome));
  call.background(recordLocation(deps, { customer, location, kept: checkout.location }));
}

async function pageOf(call: Showing, checkout: Checkout, note: Note | undefined): Promise<PageReply> {
  const { shown, frameAncestors } = await shownOf(call, checkout, note);
  return { kind: "page", status: 200, html: checkoutPage(shown), frameAncestors };
}

/** The page, with a cookie that keeps a copy of it in the browser. A HEAD request changes nothing. */
async function keptPage(
  call: PageCall<unknown, Showing["query"], CheckoutDependencies>,
  checkout: Checkout,
  note: Note | undefined,
): Promise<PageReply> {
  const { shown, frameAncestors } = await shownOf(call, checkout, note);
  const headers = call.isHead ? {} : keepShown(call, shown.view, checkout.merchant.id);
  return { kind: "page", status: 200, html: checkoutPage(shown), frameAncestors, headers };
}

/** The header that makes the browser keep a copy of the view; empty if the browser already has one. */
function keepShown(
  { env, cookie, deps }: Pick<PageCall<unknown, unknown, CheckoutDependencies>, "env" | "cookie" | "deps">,
  view: CheckoutView,
  merchantId: string,
): Readonly<Record<string, string>> {
  const keeping = { had: cookie("shown"), view, merchantId, nowMs: deps.nowMs };
  const kept = cookieOf(deps.copyKeys, keeping);
  return kept === undefined
    ? {}
    : { "set-cookie": setPageCookie(env, "shown", { ...kept, path: pathOf(view.invoiceId) }) };
}

/** The page from the browser's copy, with the time of the copy, for when the database does not answer. */
async function pageAgain(
  call: PageCall<unknown, Showing["query"], CheckoutDependencies>,
  { code }: Failure,
): Promise<Result<PageReply, Failure> | undefined> {
  const { method, choose } = call.query;
  if (code !== "STORAGE_UNAVAILABLE" || choose !== undefined) return undefined;
  const copy = await findShown(call.deps, call.params.invoiceId ?? "", call.cookie("shown"));
  // A payer who asks for a different coin must not see this coin's address.
  if (method !== undefined && method !== copy?.method.key) return undefined;
  if (copy === undefined) return undefined;
  const chrome = { ...call.chrome, path: pathOf(copy.invoiceId) };
  const html = checkoutPage({ chrome, view: viewOf(copy), note: null, shownAtMs: copy.shownAtMs });
  return ok({ kind: "page", status: 200, html, frameAncestors: [] });
}

/** The data from which the markup is rendered, for the whole page and for a part of it. */
async function shownOf({ chrome, query, deps }: Showing, checkout: Checkout, note: Note | undefined) {
  const { file, methods, claim, claimed, arrived } = checkout;
  const merchant = withSettings(checkout);
  const view = checkoutView({
    file,
    claim,
    claimed,
    arrived,
    merchant,
    methods,
    hasSource: deps.hasSource,
    estimates: await estimatesIn({ query, deps }, checkout),
    askedMethod: query.method,
    isChoosing: query.choose !== undefined,
    nowMs: deps.nowMs,
  });
  const path = pathOf(file.invoice.id);
  const { frameAncestors } = merchant.settings;
  return { shown: { chrome: { ...chrome, path }, view, note: note ?? null }, frameAncestors };
}

/** Only the page on which the payer chooses a method shows estimates, so no other page asks for rates. */
function estimatesIn({ query, deps }: Omit<Showing, "chrome">, checkout: Checkout): Promise<Estimates> | Estimates {
  const isChosen = checkout.methods.some(({ status }) => status === "ACTIVE");
  return isChosen && query.choose === undefined ? NO_ESTIMATES : readEstimates(deps, checkout);
}

/** Everything that `<main>` depends on, and the script's path. The server's time is left out, because a new time alone is not a change. */
function drawnFrom({ chrome, view, note }: Awaited<ReturnType<typeof shownOf>>["shown"]): string {
  const { language, isLanguageNamed, isModal } = chrome;
  return JSON.stringify([SCRIPT_PATH, language, isLanguageNamed, isModal, note, view], (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
}

function withSettings({ merchant }: StoredCheckout) {
  return { ...merchant, settings: settingsOf(merchant) };
}

/** The URL to which a payer returns after payment; null before payment, or if the merchant set no URL. */
async function signedReturn(env: Env, { invoice }: InvoiceFile, nowMs: number): Promise<string | null> {
  const { id: invoiceId, status, redirectUrl } = invoice;
  if (redirectUrl === null || (status !== "PAID" && status !== "OVERPAID")) return null;
  return returnUrlFor(returnDependencies(env), { invoiceId, status, redirectUrl, nowMs });
}

function backTo(chrome: Chrome, invoiceId: string, query: Readonly<Record<string, string>> = {}): PageReply {
  return { kind: "redirect", location: linkTo(chrome, pathOf(invoiceId), query) };
}

/** Every well-formed id leads to a page, which also reports an unknown invoice. */
function pageAt(chrome: Chrome, invoiceId: string): Result<PageReply, Failure> {
  const id = parseId("inv", invoiceId);
  return id === undefined ? err({ code: "INVOICE_NOT_FOUND" }) : ok(backTo(chrome, id));
}

function pathOf(invoiceId: string): string {
  return `/pay/${invoiceId}`;
}
