// The facts behind a checkout's view, as read from the database: a 10 USD invoice that asks for USDT on Ethereum, with its HMAC, and other payment
// methods to choose from.

import { type SettingsColumns, settingsOf } from "../../src/accounts/merchants/settings.ts";
import type { ViewFacts } from "../../src/checkout/pay/view.ts";
import {
  type Invoice,
  type InvoiceFile,
  newFile,
  type PaymentMethod,
} from "../../src/commerce/invoice-records/invoice.ts";
import { type MethodBody, methodBodyOf, offeredMethodBody } from "../../src/commerce/invoices/invoice-body.ts";
import { activeMethod } from "../../src/commerce/payment-methods/payment-method.ts";
import { restUnits } from "../../src/commerce/payment-methods/rest.ts";
import type { Payment } from "../../src/commerce/payments/payment.ts";
import type { Wallet } from "../../src/commerce/wallet-records/wallet.ts";
import { makeId } from "../../src/lib/ids.ts";
import type { InvoiceStatus } from "../../src/platform/column-values.ts";
import { keyringOf } from "./keyrings.ts";

export const NOW = Date.UTC(2026, 10, 21, 12);
export const EXPIRES = NOW + 3_600_000;
export const ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
export const HASH = `0x${"4f".repeat(32)}`;

const ID = "0".repeat(26);
const INVOICE_ID = makeId("inv", ID);
export const MERCHANT_ID = makeId("mer", ID);
const macKeys = keyringOf(`test:${btoa("k".repeat(32))}`);

export interface Given {
  readonly invoice?: Partial<Invoice>;
  readonly status?: InvoiceStatus;
  /** Pairs that are active, newest first. */
  readonly active?: readonly {
    readonly cryptocurrency: string;
    readonly network: string;
    readonly changes?: Partial<PaymentMethod>;
  }[];
  /** Pairs that the payer can choose. */
  readonly available?: readonly { readonly cryptocurrency: string; readonly network: string }[];
  /** Estimates by keys such as `BTC_BTC`. */
  readonly estimates?: Readonly<Record<string, string>>;
  readonly payments?: readonly Partial<Payment>[];
  readonly settings?: Partial<SettingsColumns>;
  readonly merchantName?: string;
  readonly asked?: string;
  readonly isChoosing?: boolean;
  readonly hasSource?: (network: string) => boolean;
  readonly nowMs?: number;
  readonly tipHeight?: number;
  readonly product?: InvoiceFile["product"];
  readonly paidAtMs?: number;
}

export const USDT_ETH = { cryptocurrency: "USDT", network: "ETH" };
export const USDT_TRX = { cryptocurrency: "USDT", network: "TRX" };
export const BTC_BTC = { cryptocurrency: "BTC", network: "BTC" };

export function viewFacts(given: Given = {}): ViewFacts {
  const { active = [USDT_ETH], available = [], nowMs = NOW } = given;
  const invoice = invoiceOf(given);
  const methods = active.map((pair, nth) => methodOf(invoice, pair, nth));
  const item = { id: makeId("itl", ID), invoiceId: INVOICE_ID, position: 1, timeMs: given.paidAtMs ?? NOW };
  const file: InvoiceFile = {
    ...newFile(
      { invoice, customer: undefined, product: given.product, methods },
      { ...item, paymentStatus: invoice.status },
    ),
    payments: (given.payments ?? []).map(paymentOf),
    cursors: given.tipHeight === undefined ? [] : [cursorOf(given.tipHeight)],
  };
  const context = { macKeys, publicUrl: "https://pay.example", nowMs };
  const bodies: readonly MethodBody[] = [
    ...methods.map((method) => methodBodyOf(invoice, method, context)),
    ...available.map((pair) => offeredMethodBody({ ...pair, requiredConfirmations: 1 }, null)),
  ];
  return {
    file,
    merchant: {
      id: MERCHANT_ID,
      name: given.merchantName ?? "Shop",
      settings: settingsOf(settingsColumns(given.settings)),
    },
    methods: bodies,
    estimates: new Map(Object.entries(given.estimates ?? {})),
    hasSource: given.hasSource ?? (() => true),
    claim: null,
    claimed: [],
    arrived: [],
    askedMethod: given.asked,
    isChoosing: given.isChoosing ?? false,
    nowMs,
  };
}

export function invoiceOf({ invoice = {}, status = "AWAITING_PAYMENT" }: Given): Invoice {
  return {
    id: INVOICE_ID,
    merchantId: MERCHANT_ID,
    customerId: null,
    productId: null,
    externalId: null,
    name: "Order 1001",
    description: null,
    redirectUrl: null,
    metadata: null,
    amountMicros: 10_000_000n,
    currency: "USD",
    status,
    receivedMicros: 0n,
    confirmedMicros: 0n,
    isLate: false,
    needsReview: false,
    resolution: null,
    warnings: "[]",
    underpaidToleranceMicros: 0n,
    overpaidToleranceMicros: 0n,
    latePaymentPolicy: "REVIEW",
    rateLockSeconds: 3_600,
    monitorSeconds: 86_400,
    origin: "API",
    eventSequence: 1,
    timelinePosition: 1,
    expiresAtMs: EXPIRES,
    lateGraceUntilMs: null,
    monitorUntilMs: EXPIRES + 86_400_000,
    cancelledAtMs: null,
    closedAtMs: null,
    createdAtMs: NOW,
    updatedAtMs: NOW,
    ...invoice,
  };
}

function methodOf(invoice: Invoice, of: NonNullable<Given["active"]>[number], nth: number): PaymentMethod {
  const { cryptocurrency, network, changes } = of;
  const address = addressOn(network);
  const wallet = walletOf({ cryptocurrency, network, address });
  const quote = { rate: "1", rateAtMs: NOW, sources: [], amountUnits: 10_000_000n };
  const destination = { address, addressIndex: null, amountUnits: 10_000_000n };
  const active = activeMethod({ invoice, wallet, quote, destination, macKeys, nowMs: NOW - nth });
  return { ...active, remainderUnits: restUnits(active, invoice, invoice.receivedMicros), ...changes };
}

export function walletOf(of: Pick<Wallet, "cryptocurrency" | "network" | "address">): Wallet {
  return {
    id: makeId("wal", ID),
    merchantId: MERCHANT_ID,
    walletType: "DIRECT_WALLET",
    ...of,
    xpub: null,
    derivationPath: null,
    scheme: null,
    keyHash: null,
    requiredConfirmations: 3,
    isEnabled: true,
    lastUsedIndex: null,
    nextIndex: null,
    gap: null,
    mac: "",
    macKeyId: "test",
    frozenAtMs: null,
    usableFromMs: 0,
    createdAtMs: NOW,
    updatedAtMs: NOW,
    deletedAtMs: null,
  };
}

export function addressOn(network: string): string {
  if (network === "TRX") return "TXLAQ63Xg1NAzckPwKHvzw7CSEmLMEqcdj";
  return network === "BTC" ? "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq" : ADDRESS;
}

function paymentOf(changes: Partial<Payment>, nth: number): Payment {
  return {
    id: makeId("pay", String(nth).padStart(26, "0")),
    merchantId: MERCHANT_ID,
    invoiceId: INVOICE_ID,
    ...USDT_ETH,
    chainId: 1,
    txHash: HASH,
    outputIndex: "0",
    fromAddress: `0x${"f".repeat(40)}`,
    toAddress: ADDRESS,
    amountUnits: 4_000_000n,
    fiatMicros: 4_000_000n,
    usdMicros: 4_000_000n,
    marketMicros: 4_000_000n,
    weighedBy: "IN_FORCE",
    weighedQuote: null,
    status: "DETECTED",
    confirmations: 1,
    requiredConfirmations: 3,
    isLate: false,
    matchedBy: "EXACT_AMOUNT",
    blockHeight: 100,
    blockHash: HASH,
    blockTimeMs: NOW,
    receivedAtMs: NOW,
    confirmedAtMs: null,
    reorgedAtMs: null,
    lastKnownAtMs: NOW,
    finalAtMs: null,
    wasIgnored: false,
    resolution: null,
    createdAtMs: NOW,
    updatedAtMs: NOW,
    ...changes,
  };
}

function cursorOf(tipHeight: number): InvoiceFile["cursors"][number] {
  return {
    network: "ETH",
    isResting: false,
    sinceMs: NOW,
    height: tipHeight,
    hash: HASH,
    checkpoints: "[]",
    passedMs: NOW,
    lastMovedAtMs: NOW,
    tipHeight,
    finalizedHeight: null,
    tipTimeMs: NOW,
    tickedAtMs: NOW,
    degradedSinceMs: null,
    lastOutage: null,
    progress: "{}",
    pausedAtMs: null,
  };
}

function settingsColumns(changes: Partial<SettingsColumns> = {}): SettingsColumns {
  return {
    invoiceLifetimeSeconds: 3_600,
    rateLockSeconds: 3_600,
    underpaidToleranceBasisPoints: 100,
    underpaidToleranceMaxMicros: 5_000_000n,
    overpaidToleranceBasisPoints: 500,
    monitorSeconds: 86_400,
    latePaymentPolicy: "REVIEW",
    lateGraceSeconds: 0,
    quorumAboveMicros: null,
    maxActiveInvoices: 10_000,
    maxPublicInvoices: 1_000,
    formerStoreId: null,
    mailReceiptsToCustomers: true,
    mailReceiptsToMerchant: false,
    brand: null,
    frameAncestors: null,
    ...changes,
  };
}
