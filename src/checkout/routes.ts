import type { MountedRoute } from "../auth/middleware.ts";
import { claimPayment } from "../claims/claim-payment.ts";
import { claimEffects } from "../claims/effects.ts";
import { jsonReply } from "../http/reply.ts";
import { noBody, noQuery } from "../http/route.ts";
import { PICK_ANSWERS, PICK_REFUSALS, pairBody } from "../invoices/contract.ts";
import type { InvoiceFile } from "../invoices/invoice.ts";
import { pairKey } from "../invoices/payment-method.ts";
import { ok } from "../lib/result.ts";
import { settingsOf } from "../merchants/settings.ts";
import { returnEffects } from "../returns/effects.ts";
import { returnUrlFor } from "../returns/sign-return.ts";
import { openRoute } from "../sign-in/middleware.ts";
import { SCRIPT_PATH } from "./assets.generated.ts";
import { checkoutBodyOf } from "./checkout-body.ts";
import { checkoutMain, checkoutPage } from "./checkout-page.tsx";
import { type Chrome, linkTo } from "./chrome.ts";
import { checkoutBody, checkoutQuery, claimForm, languageQuery, methodForm } from "./contract.ts";
import { type CheckoutEffects, checkoutEffects } from "./effects.ts";
import { type PageReply, pageRoute } from "./middleware.ts";
import { claimNote, type Note, pickNote } from "./note.ts";
import { pairNamed, pickMethod } from "./pick-method.ts";
import { type Checkout, findCheckout, keepLanguage, readCheckout, type StoredCheckout } from "./read-checkout.ts";
import { receiptPage } from "./receipt-page.tsx";
import { checkoutView, soleWay } from "./view.ts";

const ONE = "/pay/:invoiceId";
const PAGE = {
  tag: "Pages",
  callers: "ANYBODY",
  permission: null,
  isForPublicKeys: false,
  isPage: true,
  isIdempotent: false,
  body: noBody,
  refusals: [],
} as const;
const JSON_ROUTE = {
  tag: "Checkout",
  callers: "ANYBODY",
  permission: null,
  isForPublicKeys: false,
  isForAnyOrigin: true,
} as const;

const show = pageRoute({
  spec: {
    ...PAGE,
    method: "GET",
    path: ONE,
    operationId: "showCheckout",
    summary: "The page where a customer pays",
    description: "Where only one way to pay is left to pick, it is picked.",
    query: checkoutQuery,
    answers: [{ status: 200, description: "The page, whatever the invoice's status", alsoAs: "text/html" }],
  },
  effects: checkoutEffects,
  answer: async (call) => {
    const opened = await readCheckout(call.fx, call.params.invoiceId ?? "");
    if (!opened.ok) return opened;
    const { file, methods } = opened.value;
    const { isHead, chrome, fx, ip, requestId } = call;
    if (!isHead) call.background(keepLanguage(fx, opened.value, chrome));
    const sole = isHead ? undefined : soleWay({ file, methods, nowMs: fx.nowMs });
    if (sole === undefined) return ok(pageOf(call, opened.value, call.query.note));
    const picked = await pickMethod(fx, { file, named: sole, ip, requestId });
    if (!picked.ok) return ok(pageOf(call, opened.value, pickNote(picked.error)));
    const again = await readCheckout(fx, file.invoice.id);
    return again.ok ? ok(pageOf(call, again.value, call.query.note)) : again;
  },
});

const state = pageRoute({
  spec: {
    ...PAGE,
    method: "GET",
    path: `${ONE}/state`,
    operationId: "showCheckoutState",
    summary: "What changes on the page while it is open",
    query: checkoutQuery,
    answers: [
      { status: 200, description: "The page's <main>, with an ETag", alsoAs: "text/html" },
      { status: 304, description: "It is as If-None-Match says" },
    ],
  },
  effects: checkoutEffects,
  answer: async (call) => {
    const read = await readCheckout(call.fx, call.params.invoiceId ?? "");
    if (!read.ok) return read;
    const { shown, frameAncestors } = shownOf(call, read.value, call.query.note);
    return ok({ kind: "page", status: 200, html: checkoutMain(shown), frameAncestors, drawnFrom: drawnFrom(shown) });
  },
});

const pick = pageRoute({
  spec: {
    ...PAGE,
    method: "POST",
    path: `${ONE}/methods`,
    operationId: "pickOnCheckout",
    summary: "Pick a way to pay on the page",
    body: methodForm,
    query: languageQuery,
    answers: [{ status: 303, description: "Back to the page, which says why where it could not be picked" }],
  },
  effects: checkoutEffects,
  answer: async (call) => {
    const found = await findCheckout(call.fx, call.params.invoiceId ?? "");
    if (!found.ok) return found;
    const { file } = found.value;
    const { ip, requestId, form } = call;
    const picked = await pickMethod(call.fx, { file, named: pairNamed(form.method), ip, requestId });
    const query = picked.ok ? { method: pairKey(picked.value.pair) } : { choose: "1", note: pickNote(picked.error) };
    return ok(backTo(call.chrome, file.invoice.id, query));
  },
});

const claim = pageRoute({
  spec: {
    ...PAGE,
    method: "POST",
    path: `${ONE}/claims`,
    operationId: "claimOnCheckout",
    summary: "Say on the page that a transaction pays the invoice",
    body: claimForm,
    query: languageQuery,
    answers: [{ status: 303, description: "Back to the page, which says what was found" }],
  },
  effects: claimEffects,
  answer: async (call) => {
    const found = await findCheckout(call.fx, call.params.invoiceId ?? "");
    if (!found.ok) return found;
    const invoiceId = found.value.file.invoice.id;
    const { network, txHash } = call.form;
    const claimed = await claimPayment(call.fx, { invoiceId, network, txHash: txHash.trim(), ip: call.ip });
    return ok(backTo(call.chrome, invoiceId, { note: claimNote(claimed) }));
  },
});

const receipt = pageRoute({
  spec: {
    ...PAGE,
    method: "GET",
    path: `${ONE}/receipt`,
    operationId: "showReceipt",
    summary: "What was paid, to print",
    query: languageQuery,
    answers: [{ status: 200, description: "The receipt, or that there is none yet", alsoAs: "text/html" }],
  },
  effects: checkoutEffects,
  answer: async (call) => {
    const read = await readCheckout(call.fx, call.params.invoiceId ?? "");
    if (!read.ok) return read;
    const { shown, frameAncestors } = shownOf({ ...call, query: {} }, read.value, undefined);
    // Its own path, for whoever asks for it in another language.
    const chrome = { ...shown.chrome, path: `${shown.chrome.path}/receipt` };
    return ok({ kind: "page", status: 200, html: receiptPage({ ...shown, chrome }), frameAncestors });
  },
});

const goBack = pageRoute({
  spec: {
    ...PAGE,
    method: "GET",
    path: `${ONE}/return`,
    operationId: "returnToShop",
    summary: "Back to the shop",
    query: languageQuery,
    answers: [
      { status: 303, description: "To the invoice's `redirectUrl`, signed, once it is paid; else to the page" },
    ],
  },
  effects: checkoutEffects,
  answer: async (call) => {
    const read = await readCheckout(call.fx, call.params.invoiceId ?? "");
    if (!read.ok) return read;
    const { file } = read.value;
    const location = await signedReturn(call.env, file, call.fx.nowMs);
    return ok(location === null ? backTo(call.chrome, file.invoice.id) : { kind: "redirect", location });
  },
});

const get = openRoute({
  spec: {
    ...JSON_ROUTE,
    method: "GET",
    path: "/api/v1/checkout/:invoiceId",
    operationId: "getCheckout",
    summary: "Read an invoice as its payer may see it",
    description:
      "Nothing of the customer, of metadata or of externalId. `paymentMethods` has those that can be picked, too.",
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 200, description: "The invoice, as it is true now", schema: checkoutBody }],
    refusals: ["INVOICE_NOT_FOUND", "CONTENTION", "STORAGE_UNAVAILABLE"],
  },
  effects: checkoutEffects,
  answer: async ({ fx, env, params }) => {
    const read = await readCheckout(fx, params.invoiceId ?? "");
    if (!read.ok) return read;
    const { file, methods } = read.value;
    const redirectUrl = await signedReturn(env, file, fx.nowMs);
    const merchant = withSettings(read.value);
    return ok(jsonReply(200, checkoutBodyOf({ file, merchant, methods, redirectUrl }, fx.body)));
  },
});

const activate = openRoute({
  spec: {
    ...JSON_ROUTE,
    method: "POST",
    path: "/api/v1/checkout/:invoiceId/payment-methods",
    operationId: "pickPaymentMethod",
    summary: "Pick a way to pay as a payer",
    description:
      "Locks the rate and gives an address or an amount, as the merchant's own route does. 30 a minute from one IP address. An Idempotency-Key is the invoice's own: it meets none that a server sends.",
    isIdempotent: true,
    body: pairBody,
    query: noQuery,
    answers: PICK_ANSWERS,
    refusals: [...PICK_REFUSALS, "STORAGE_UNAVAILABLE", "CONTENTION"],
  },
  effects: checkoutEffects,
  answer: async ({ fx, params, body: named, ip, requestId, idempotencyKey: key, path, json }) => {
    const found = await findCheckout(fx, params.invoiceId ?? "");
    if (!found.ok) return found;
    const picked = await pickMethod(fx, { ...found.value, named, ip, requestId, keyed: { key, path, json } });
    if (!picked.ok) return picked;
    const { status, body, isReplay } = picked.value;
    return ok({ status, body, headers: isReplay ? { "idempotent-replayed": "true" } : {} });
  },
});

export const checkoutRoutes: readonly MountedRoute[] = [show, state, pick, claim, receipt, goBack, get, activate];

/** A call of a page that shows an invoice. */
interface Showing {
  readonly chrome: Chrome;
  readonly query: { readonly method?: string | undefined; readonly choose?: string | undefined };
  readonly fx: Pick<CheckoutEffects, "nowMs">;
}

function pageOf(call: Showing, checkout: Checkout, note: Note | undefined): PageReply {
  const { shown, frameAncestors } = shownOf(call, checkout, note);
  return { kind: "page", status: 200, html: checkoutPage(shown), frameAncestors };
}

/** What the markup is drawn from; a part of the page is drawn as on the page itself. */
function shownOf({ chrome, query, fx }: Showing, checkout: Checkout, note: Note | undefined) {
  const { file, methods } = checkout;
  const merchant = withSettings(checkout);
  const view = checkoutView({
    file,
    merchant,
    methods,
    askedMethod: query.method,
    isChoosing: query.choose !== undefined,
    nowMs: fx.nowMs,
  });
  const path = pathOf(file.invoice.id);
  const { frameAncestors } = merchant.settings;
  return { shown: { chrome: { ...chrome, path }, view, note: note ?? null }, frameAncestors };
}

/** Everything on `<main>` but the clock that a page sets its countdown by, which by itself is no change; and which script it is drawn for. */
function drawnFrom({ chrome, view, note }: ReturnType<typeof shownOf>["shown"]): string {
  const { language, isLanguageNamed } = chrome;
  return JSON.stringify([SCRIPT_PATH, language, isLanguageNamed, note, view], (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
}

function withSettings({ merchant }: StoredCheckout) {
  return { ...merchant, settings: settingsOf(merchant) };
}

/** Where a payer who has paid goes; null before, and where the merchant named no place (security.md 4). */
async function signedReturn(env: Env, { invoice }: InvoiceFile, nowMs: number): Promise<string | null> {
  const { id: invoiceId, status, redirectUrl } = invoice;
  if (redirectUrl === null || (status !== "PAID" && status !== "OVERPAID")) return null;
  return returnUrlFor(returnEffects(env), { invoiceId, status, redirectUrl, nowMs });
}

function backTo(chrome: Chrome, invoiceId: string, query: Readonly<Record<string, string>> = {}): PageReply {
  return { kind: "redirect", location: linkTo(chrome, pathOf(invoiceId), query) };
}

function pathOf(invoiceId: string): string {
  return `/pay/${invoiceId}`;
}
