// What a payer is shown, decided from the invoice's file: a pure function that page, fragment and receipt are drawn from. Nothing of the
// customer is in it, and no address that `methods` (whose HMACs were verified) does not have.
import { type Asset, assetOn, type Network, networkNamed } from "../chains/networks.ts";
import { imageUrl } from "../images/image.ts";
import { type Invoice, type InvoiceFile, rateLockedUntilMs } from "../invoices/invoice.ts";
import type { MethodBody } from "../invoices/invoice-body.ts";
import { pairKey } from "../invoices/payment-method.ts";
import { formatUnits, parseUnits } from "../lib/money.ts";
import { plainText } from "../lib/plain-text.ts";
import type { Settings } from "../merchants/settings.ts";
import { confirmationsAt, type Payment } from "../payments/payment.ts";
import { coinName, tokenStandard } from "./coins.ts";
import { type EvmTransfer, evmTransfer } from "./evm-transfer.ts";

/**
 * Where the payer stands. `unavailable`: nothing can be paid yet. `choose`: no way to pay is picked. `pay`: waits for money. `partial`: some has
 * come. `checking`: the time is over, the chains are still being read. `seen`: all is there, unconfirmed. The others are ends.
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

/** One coin with the networks it can be paid on. */
export interface Choice {
  readonly code: string;
  readonly name: string;
  readonly ways: readonly Way[];
}

export interface Way {
  /** `USDT_TRX`: what the form sends. */
  readonly key: string;
  readonly network: string;
  /** In plain words: `TRON`. */
  readonly networkName: string;
  /** `TRC-20`; null for a native coin, or where nobody says so. */
  readonly standard: string | null;
  readonly isTest: boolean;
}

export interface MethodView extends Way {
  readonly code: string;
  readonly coin: string;
  readonly address: string;
  /** What is still to be sent, exact decimal text; null where any amount may be sent. */
  readonly amount: string | null;
  readonly uri: string;
  /** Price of one coin in the invoice's currency, decimal text; null where none was needed. */
  readonly rate: string | null;
  /** When the amount stops being valid, and what happens then. */
  readonly deadlineMs: number;
  readonly atDeadline: "requote" | "expire";
  readonly requiredConfirmations: number;
  /** About how long a payment takes to be confirmed, at least 1. */
  readonly minutes: number;
  /** What an injected wallet is asked to send; null for other families, and where any amount may be sent. */
  readonly transfer: EvmTransfer | null;
}

export interface PaymentView {
  readonly txHash: string;
  readonly amount: string;
  readonly code: string;
  readonly networkName: string;
  /** `unconfirmed` also before the first block; `gone`: it left the chain and may come back. */
  readonly state: "unconfirmed" | "confirmed" | "gone";
  readonly confirmations: number;
  readonly requiredConfirmations: number;
  /** Came after the end, and is for the merchant to decide about. */
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
  /** What is short of `total`; 0 when nothing is. */
  readonly missing: Money;
  readonly choices: readonly Choice[];
  /** The method to pay with, or that was paid with; null while none is picked, or where its address may not be shown. */
  readonly method: MethodView | null;
  /** Whether another way to pay can still be picked. */
  readonly canChoose: boolean;
  readonly payments: readonly PaymentView[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** When it was paid; null unless `paid` or `overpaid`. */
  readonly paidAtMs: number | null;
  readonly canReturn: boolean;
  /** Networks on which a payment may be claimed. */
  readonly claimNetworks: readonly { readonly network: string; readonly networkName: string }[];
  /** Money that comes now is still watched for. */
  readonly isMonitored: boolean;
  readonly acceptsLate: boolean;
  readonly isTest: boolean;
  /** How often a page without push should ask; 0 when nothing will change by itself. */
  readonly pollSeconds: number;
}

export interface ViewFacts {
  readonly file: InvoiceFile;
  readonly merchant: { readonly name: string; readonly id: string; readonly settings: Settings };
  /** Active ones, and those that can be picked, as `listMethods` has them. */
  readonly methods: readonly MethodBody[];
  /** `USDT_TRX`, as the address asks; undefined for whichever fits. */
  readonly askedMethod: string | undefined;
  readonly isChoosing: boolean;
  readonly publicUrl: string;
  readonly nowMs: number;
}

export function checkoutView(facts: ViewFacts): CheckoutView {
  const { file, merchant, publicUrl, nowMs } = facts;
  const { invoice, product } = file;
  const active = facts.methods.filter(({ status, address }) => status === "ACTIVE" && address !== null);
  const available = facts.methods.filter(({ status }) => status === "AVAILABLE");
  const isOpen = invoice.status === "AWAITING_PAYMENT" && nowMs <= invoice.expiresAtMs;
  const choices = choicesOf(isOpen ? [...active, ...available] : []);
  const canChoose = isOpen && invoice.receivedMicros === 0n && active.length + available.length > 1;
  const isChoosing = canChoose && facts.isChoosing;
  const shown = isChoosing ? undefined : chosenMethod(file, active, facts.askedMethod);
  const method = shown === undefined ? null : methodView(file, shown);
  const hasWay = active.length + available.length > 0;
  const stage = stageOf(invoice, { isOpen, hasWay, hasMethod: method !== null });
  const { amountMicros, receivedMicros, currency } = invoice;
  const missing = amountMicros > receivedMicros ? amountMicros - receivedMicros : 0n;
  const isPaid = stage === "paid" || stage === "overpaid";
  return {
    invoiceId: invoice.id,
    stage,
    shop: shopOf(merchant, publicUrl),
    title: plainText(invoice.name),
    description: invoice.description === null ? null : plainText(invoice.description),
    imageUrl:
      product === undefined || product.image === null
        ? null
        : imageUrl(publicUrl, { merchantId: product.merchantId, name: product.image }),
    total: { micros: amountMicros, currency },
    received: { micros: receivedMicros, currency },
    missing: { micros: missing, currency },
    choices,
    method,
    canChoose,
    payments: file.payments.flatMap((payment) => paymentView(payment, file)),
    createdAtMs: invoice.createdAtMs,
    expiresAtMs: invoice.expiresAtMs,
    paidAtMs: isPaid ? paidAtMs(file) : null,
    canReturn: isPaid && invoice.redirectUrl !== null,
    claimNetworks: claimNetworks(file),
    isMonitored: nowMs <= invoice.monitorUntilMs,
    acceptsLate: invoice.latePaymentPolicy === "ACCEPT",
    isTest: [...active, ...available].some((each) => networkNamed(each.network)?.isTest === true),
    pollSeconds: pollSecondsOf(stage, method),
  };
}

/** How a shop presents itself: by its brand, where it has one. */
export function shopOf(merchant: ViewFacts["merchant"], publicUrl: string): Shop {
  const { brand } = merchant.settings;
  return {
    name: plainText(brand.name ?? merchant.name),
    color: brand.color,
    logoUrl: brand.logo === null ? null : imageUrl(publicUrl, { merchantId: merchant.id, name: brand.logo }),
    supportUrl: brand.supportUrl,
  };
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

/** The one that was asked for, else the one that money came by, else the newest. */
function chosenMethod(
  { methods, payments }: InvoiceFile,
  active: readonly MethodBody[],
  asked: string | undefined,
): MethodBody | undefined {
  const [named] = active.filter((method) => pairKey(method) === asked);
  if (named !== undefined) return named;
  const paid = payments.findLast(({ status }) => status === "DETECTED" || status === "CONFIRMED");
  const byMoney = active.find(
    (method) => method.network === paid?.network && method.cryptocurrency === paid.cryptocurrency,
  );
  if (byMoney !== undefined) return byMoney;
  const newest = methods.toSorted((a, b) => (b.activatedAtMs ?? 0) - (a.activatedAtMs ?? 0));
  for (const each of newest) {
    const found = active.find((method) => pairKey(method) === pairKey(each));
    if (found !== undefined) return found;
  }
  return undefined;
}

function methodView(file: InvoiceFile, body: MethodBody): MethodView | null {
  const { network, asset } = knownPair(body);
  const row = file.methods.find((method) => pairKey(method) === pairKey(body));
  if (body.address === null || body.paymentUri === null || row === undefined) return null;
  const { invoice } = file;
  const lockedUntilMs = rateLockedUntilMs(invoice, row);
  const isRequoted = lockedUntilMs < invoice.expiresAtMs && invoice.receivedMicros === 0n && row.amountUnits !== null;
  const units = body.amountDue === null ? undefined : parseUnits(body.amountDue, asset.decimals);
  const amountUnits = units?.ok ? units.value : undefined;
  return {
    ...wayOf(body),
    code: asset.code,
    coin: coinName(asset.code),
    address: body.address,
    amount: body.amountDue,
    uri: body.paymentUri,
    rate: body.rate,
    deadlineMs: isRequoted ? lockedUntilMs : invoice.expiresAtMs,
    atDeadline: isRequoted ? "requote" : "expire",
    requiredConfirmations: body.requiredConfirmations,
    minutes: Math.max(1, Math.ceil((network.blockSeconds * body.requiredConfirmations) / 60)),
    transfer: amountUnits === undefined ? null : evmTransfer({ network, asset, address: body.address, amountUnits }),
  };
}

/** Coins in the order of their first way, each with its networks. */
function choicesOf(methods: readonly MethodBody[]): readonly Choice[] {
  const codes = [...new Set(methods.map(({ cryptocurrency }) => cryptocurrency))].toSorted();
  return codes.map((code) => ({
    code,
    name: coinName(code),
    ways: methods
      .filter(({ cryptocurrency }) => cryptocurrency === code)
      .map(wayOf)
      .toSorted((a, b) => (a.networkName < b.networkName ? -1 : 1)),
  }));
}

function wayOf(pair: Pick<MethodBody, "cryptocurrency" | "network">): Way {
  const { network, asset } = knownPair(pair);
  return {
    key: pairKey({ cryptocurrency: asset.code, network: network.name }),
    network: network.name,
    networkName: network.displayName,
    standard: asset.contract === null ? null : (tokenStandard(network.name) ?? null),
    isTest: network.isTest,
  };
}

function paymentView(payment: Payment, { cursors }: InvoiceFile): readonly PaymentView[] {
  if (payment.status !== "DETECTED" && payment.status !== "CONFIRMED" && payment.status !== "REORGED") return [];
  const { network, asset } = knownPair(payment);
  const tip = cursors.find((cursor) => cursor.network === payment.network)?.tipHeight ?? null;
  const states = { DETECTED: "unconfirmed", CONFIRMED: "confirmed", REORGED: "gone" } as const;
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

function knownPair(pair: Pick<MethodBody, "cryptocurrency" | "network">): { network: Network; asset: Asset } {
  const network = networkNamed(pair.network);
  const asset = network === undefined ? undefined : assetOn(network, pair.cryptocurrency);
  if (network === undefined || asset === undefined)
    throw new Error(`unknown pair ${pair.cryptocurrency} on ${pair.network}`);
  return { network, asset };
}
