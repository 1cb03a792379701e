// What a payer is shown, computed from the invoice and its relations: a pure function for the page, its parts and the receipt. Contains no customer
// data, and only addresses from `methods`, whose HMACs were verified.

import { imageUrl } from "../../accounts/images/image.ts";
import type { Settings } from "../../accounts/merchants/settings.ts";
import { isTestNetwork, networkNamed } from "../../chains/registry/networks.ts";
import { type Pair, pairOf } from "../../chains/registry/pair.ts";
import type { Invoice, InvoiceFile } from "../../commerce/invoice-records/invoice.ts";
import type { MethodBody } from "../../commerce/invoices/invoice-body.ts";
import { confirmationsAt, type Payment } from "../../commerce/payments/payment.ts";
import { isMonitored } from "../../commerce/settlement/status.ts";
import { formatUnits } from "../../lib/money.ts";
import { plainText } from "../../lib/plain-text.ts";
import { type ClaimFacts, type ClaimView, claimView } from "./claimed-view.ts";
import type { Estimates } from "./estimates.ts";
import type { Choice, MethodView } from "./method-view.ts";
import { choicesOf, chosenMethod, methodView } from "./method-view.ts";

/**
 * The stage of the payment. `unavailable`: nothing can be paid yet. `choose`: no payment method is chosen. `pay`: no payment has arrived yet.
 * `partial`: part of the amount has arrived. `checking`: the invoice's lifetime is over, but the chains are still being read. `seen`: everything has
 * arrived, unconfirmed. The others are the invoice statuses of the same name.
 */
export type Stage =
  | "unavailable"
  | "choose"
  | "pay"
  | "partial"
  | "checking"
  | "seen"
  | "paid"
  | "overpaid"
  | "underpaid"
  | "expired"
  | "cancelled";

export interface Money {
  readonly micros: bigint;
  readonly currency: string;
}

export interface Shop {
  readonly name: string;
  /** `#rrggbb`. */
  readonly color: string | null;
  readonly logoUrl: string | null;
  readonly supportUrl: string | null;
}

export interface PaymentView {
  readonly txHash: string;
  readonly amount: string;
  readonly code: string;
  readonly networkName: string;
  /** `unconfirmed`: in the mempool or in a block; `gone`: it left the chain and may come back; `undecided`: not credited to the invoice yet. */
  readonly state: "unconfirmed" | "confirmed" | "gone" | "undecided";
  readonly confirmations: number;
  readonly requiredConfirmations: number;
  /** Whether it arrived after the invoice's end. By the merchant's settings it is then accepted or waits for a decision. */
  readonly isLate: boolean;
  readonly receivedAtMs: number;
}

export interface CheckoutView {
  readonly invoiceId: string;
  readonly stage: Stage;
  readonly shop: Shop;
  readonly title: string;
  readonly description: string | null;
  readonly imageUrl: string | null;
  /** 0 asks for any amount. */
  readonly total: Money;
  readonly received: Money;
  /** The amount missing from `total`; 0 if nothing is missing. */
  readonly missing: Money;
  readonly choices: readonly Choice[];
  /** The method to pay with, or the one that was used to pay. Null while no method is chosen, or if its address may not be shown. */
  readonly method: MethodView | null;
  /** Whether another payment method can still be chosen. */
  readonly canChoose: boolean;
  readonly payments: readonly PaymentView[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** When it was paid; null unless `paid` or `overpaid`. */
  readonly paidAtMs: number | null;
  readonly canReturn: boolean;
  /** The claim that the page is about; null without one. */
  readonly claim: ClaimView | null;
  /** Networks on which a payment may be claimed. */
  readonly claimNetworks: readonly { readonly network: string; readonly networkName: string }[];
  /** Whether the chains are still watched for new payments. */
  readonly isMonitored: boolean;
  /** When the watch for payments ends. Until then the rest of an underpaid invoice may be sent. */
  readonly monitorUntilMs: number;
  readonly acceptsLate: boolean;
  /** Whether the shown coins have no value: the coin of the method, or all coins to choose from. */
  readonly isTest: boolean;
  /** Whether the server has no source for the network of the method, so that it would not see a payment. */
  readonly isUnwatched: boolean;
  /** Whether the server notifies the page of changes. */
  readonly isLive: boolean;
  /** How often a page without live updates should poll; 0 if nothing will change. */
  readonly pollSeconds: number;
}

export interface ViewFacts extends ClaimFacts {
  readonly file: InvoiceFile;
  /** Uncredited transfers that can only be meant for this invoice. */
  readonly arrived: readonly Payment[];
  readonly merchant: { readonly name: string; readonly id: string; readonly settings: Settings };
  /** Active methods and those that can be chosen, as `listMethods` returns them. */
  readonly methods: readonly MethodBody[];
  readonly estimates: Estimates;
  readonly hasSource: (network: string) => boolean;
  /** The method that the URL asks for, e.g. `USDT_TRX`; undefined for the default. */
  readonly askedMethod: string | undefined;
  readonly isChoosing: boolean;
  readonly nowMs: number;
}

/** How often to poll on a page where only the state of a claim can still change. */
const CLAIM_POLL_SECONDS = 30;

export function checkoutView(facts: ViewFacts): CheckoutView {
  const { file, merchant, nowMs } = facts;
  const { invoice } = file;
  const active = facts.methods.filter(({ status, address }) => status === "ACTIVE" && address !== null);
  const available = facts.methods.filter(({ status }) => status === "AVAILABLE");
  const isOpen = isPayable(invoice, nowMs);
  const choices = choicesOf(isOpen ? [...active, ...available] : [], facts.estimates);
  const canChoose = isOpen && invoice.receivedMicros === 0n && active.length + available.length > 1;
  const isChoosing = canChoose && facts.isChoosing;
  const shown = isChoosing ? undefined : chosenMethod(file, active, facts.askedMethod);
  const method = shown === undefined ? null : methodView(file, shown);
  const hasWay = active.length + available.length > 0;
  const stage = stageOf(invoice, { isOpen, hasWay, hasMethod: method !== null });
  const { amountMicros, receivedMicros, currency } = invoice;
  const missing = amountMicros > receivedMicros ? amountMicros - receivedMicros : 0n;
  const isPaid = stage === "paid" || stage === "overpaid";
  const claim = claimView(facts);
  const payments = [...file.payments.filter(({ status }) => status !== "UNMATCHED"), ...facts.arrived].flatMap(
    (payment) => paymentView(payment, file),
  );
  const stageSeconds = pollSecondsOf(stage, method);
  // A second payment that is not confirmed yet can still make a paid invoice an overpaid one.
  const isPaidTwice = stage === "paid" && payments.some(({ state }) => state === "unconfirmed");
  const restSeconds = isPaidTwice ? pollSecondsOf("seen", method) : stageSeconds;
  return {
    invoiceId: invoice.id,
    stage,
    shop: shopOf(merchant, ""),
    title: seenText(invoice.name) || invoice.id,
    description: seenText(invoice.description ?? "") || null,
    imageUrl: productImage(file),
    total: { micros: amountMicros, currency },
    received: { micros: receivedMicros, currency },
    missing: { micros: missing, currency },
    choices,
    method,
    canChoose,
    payments,
    createdAtMs: invoice.createdAtMs,
    expiresAtMs: invoice.expiresAtMs,
    paidAtMs: isPaid ? paidAtMs(file) : null,
    canReturn: isPaid && invoice.redirectUrl !== null,
    claim,
    claimNetworks: claimNetworks(file),
    isMonitored: isMonitored(invoice, nowMs),
    monitorUntilMs: invoice.monitorUntilMs,
    acceptsLate: invoice.latePaymentPolicy === "ACCEPT",
    isTest: method?.isTest ?? isAllTest([...active, ...available]),
    isUnwatched: method !== null && !facts.hasSource(method.network),
    isLive: stageSeconds > 0,
    pollSeconds: restSeconds > 0 || claim === null || claim.isGood ? restSeconds : CLAIM_POLL_SECONDS,
  };
}

/**
 * A shop's name and appearance: those of its brand, if it has one. `origin`: origin of the logo's URL; "" on pages, which may be open under another
 * of our host names.
 */
export function shopOf(merchant: ViewFacts["merchant"], origin: string): Shop {
  const { brand } = merchant.settings;
  return {
    name: seenText(brand.name ?? merchant.name) || merchant.id,
    color: brand.color,
    logoUrl: brand.logo === null ? null : imageUrl(origin, { merchantId: merchant.id, name: brand.logo }),
    supportUrl: brand.supportUrl,
  };
}

/** Whether a payer may still choose a payment method and pay. */
function isPayable(invoice: Invoice, nowMs: number): boolean {
  return invoice.status === "AWAITING_PAYMENT" && nowMs <= invoice.expiresAtMs;
}

/** The only payment method, if none is chosen yet: the payer then has nothing to choose. */
export function soleWay({ file, methods, nowMs }: Pick<ViewFacts, "file" | "methods" | "nowMs">): Pair | undefined {
  const [only, ...others] = methods.filter(({ status }) => status === "AVAILABLE");
  const isPicked = file.methods.some(({ status }) => status === "ACTIVE");
  return isPicked || others.length > 0 || !isPayable(file.invoice, nowMs) ? undefined : only;
}

/** The visible part of a string: empty if it only has control characters and spaces. */
function seenText(text: string): string {
  return plainText(text).trim();
}

function productImage({ product }: InvoiceFile): string | null {
  const name = product?.image ?? null;
  return product === undefined || name === null ? null : imageUrl("", { merchantId: product.merchantId, name });
}

function stageOf(
  invoice: Invoice,
  of: { readonly isOpen: boolean; readonly hasWay: boolean; readonly hasMethod: boolean },
): Stage {
  switch (invoice.status) {
    case "AWAITING_PAYMENT":
      if (!of.isOpen) return "checking";
      if (!of.hasWay) return "unavailable";
      if (!of.hasMethod) return "choose";
      return invoice.receivedMicros > 0n ? "partial" : "pay";
    case "PENDING_CONFIRMATION":
      return "seen";
    case "PAID":
      return "paid";
    case "OVERPAID":
      return "overpaid";
    case "UNDERPAID":
      return "underpaid";
    case "EXPIRED":
      return "expired";
    case "CANCELLED":
      return "cancelled";
  }
}

function paymentView(payment: Payment, { cursors }: InvoiceFile): readonly PaymentView[] {
  if (payment.status === "DROPPED" || payment.status === "IGNORED") return [];
  const { network, asset } = pairOf(payment);
  const tip = cursors.find((cursor) => cursor.network === payment.network)?.tipHeight ?? null;
  const states = { DETECTED: "unconfirmed", CONFIRMED: "confirmed", REORGED: "gone", UNMATCHED: "undecided" } as const;
  return [
    {
      txHash: payment.txHash,
      amount: formatUnits(payment.amountUnits, asset.decimals),
      code: asset.code,
      networkName: network.displayName,
      state: states[payment.status],
      confirmations: confirmationsAt(payment, tip),
      requiredConfirmations: payment.requiredConfirmations,
      isLate: payment.isLate,
      receivedAtMs: payment.receivedAtMs,
    },
  ];
}

function isAllTest(ways: readonly Pair[]): boolean {
  return ways.length > 0 && ways.every(({ network }) => isTestNetwork(network));
}

function paidAtMs({ timeline, invoice }: InvoiceFile): number {
  const item = timeline.findLast(({ paymentStatus }) => paymentStatus === "PAID" || paymentStatus === "OVERPAID");
  return item?.timeMs ?? invoice.updatedAtMs;
}

function claimNetworks({ methods }: InvoiceFile): CheckoutView["claimNetworks"] {
  const names = new Set(methods.filter(({ status }) => status === "ACTIVE").map(({ network }) => network));
  return [...names].map((network) => ({ network, networkName: networkNamed(network)?.displayName ?? network }));
}

function pollSecondsOf(stage: Stage, method: MethodView | null): number {
  switch (stage) {
    case "paid":
    case "overpaid":
    case "cancelled":
      return 0;
    case "unavailable":
    case "choose":
    case "underpaid":
    case "expired":
      return 30;
    case "pay":
    case "partial":
    case "checking":
    case "seen":
      return Math.min(15, Math.max(3, networkNamed(method?.network ?? "")?.pollSeconds ?? 10));
  }
}
