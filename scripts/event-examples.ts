// Example events of a fictional shop, created by the service's own code. All values are fixed, so the catalogue only changes with the code.
import { apiKeyBodyOf } from "../src/accounts/api-keys/api-key-body.ts";
import { memberBodyOf } from "../src/accounts/teams/member.ts";
import { type InvoiceFile, newFile, type PaymentMethod } from "../src/commerce/invoice-records/invoice.ts";
import { invoiceEventData } from "../src/commerce/invoices/event-invoice.ts";
import { invoiceBodyOf } from "../src/commerce/invoices/invoice-body.ts";
import type { Payment } from "../src/commerce/payments/payment.ts";
import { paymentBodyOf } from "../src/commerce/payments/payment-body.ts";
import { signRow } from "../src/commerce/wallet-records/row-mac.ts";
import { derivedId, newUlid } from "../src/lib/ids.ts";
import { DAY_MS, HOUR_MS, isoTime, MINUTE_MS } from "../src/lib/time.ts";
import type { EventData } from "../src/notifications/events/event-data.ts";
import { type EventType, eventText } from "../src/platform/events/event.ts";

const NOW_MS = Date.parse("2026-11-21T12:00:00Z");
const OPERATION = newUlid(NOW_MS, new Uint8Array(16));
const macKeys = [{ id: "example", secret: new Uint8Array(32) }] as const;

const merchantId = derivedId("mer", OPERATION);
const invoiceId = derivedId("inv", OPERATION);
const walletId = derivedId("wal", OPERATION);
const memberId = derivedId("mem", OPERATION);
const userId = derivedId("usr", OPERATION);
const webhookId = derivedId("whk", OPERATION);
const target = "0x52908400098527886E0F7030069857D2E4169EE7";
const pair = { network: "ETH", cryptocurrency: "USDT" } as const;

const payment: Payment = {
  id: derivedId("pay", OPERATION),
  merchantId,
  invoiceId,
  ...pair,
  chainId: 1,
  txHash: `0x${"5c".repeat(32)}`,
  outputIndex: "0",
  fromAddress: "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
  toAddress: target,
  amountUnits: 49_900_000n,
  fiatMicros: 49_900_000n,
  usdMicros: 49_900_000n,
  status: "CONFIRMED",
  marketMicros: 49_900_000n,
  weighedBy: "EXACT_UNITS",
  weighedQuote: null,
  confirmations: 12,
  requiredConfirmations: 12,
  blockHeight: 23_845_001,
  blockHash: `0x${"b1".repeat(32)}`,
  blockTimeMs: NOW_MS - 3 * MINUTE_MS,
  isLate: false,
  matchedBy: "ADDRESS",
  receivedAtMs: NOW_MS - 3 * MINUTE_MS,
  confirmedAtMs: NOW_MS,
  reorgedAtMs: null,
  lastKnownAtMs: NOW_MS,
  finalAtMs: null,
  wasIgnored: false,
  resolution: null,
  createdAtMs: NOW_MS - 3 * MINUTE_MS,
  updatedAtMs: NOW_MS,
};

const method: PaymentMethod = {
  invoiceId,
  merchantId,
  walletId,
  ...pair,
  walletType: "DIRECT_WALLET",
  status: "ACTIVE",
  reason: null,
  address: target,
  addressIndex: null,
  amountUnits: 49_900_000n,
  rate: "1",
  rateSources: null,
  quoteForMicros: 49_900_000n,
  quotes: "[]",
  rateAtMs: NOW_MS - HOUR_MS,
  quotedAtMs: NOW_MS - HOUR_MS,
  lockedUntilMs: NOW_MS,
  requiredConfirmations: 12,
  ...signRow(macKeys, { kind: "method", row: invoiceId, merchantId, ...pair, target }),
  activatedAtMs: NOW_MS - HOUR_MS,
  remainderUnits: null,
  isFromPublicKey: false,
};

const invoice: InvoiceFile["invoice"] = {
  id: invoiceId,
  merchantId,
  customerId: null,
  productId: null,
  externalId: "1001",
  name: "Order 1001",
  description: null,
  redirectUrl: null,
  metadata: null,
  amountMicros: 49_900_000n,
  currency: "USD",
  status: "PAID",
  receivedMicros: 49_900_000n,
  confirmedMicros: 49_900_000n,
  isLate: false,
  needsReview: false,
  resolution: null,
  warnings: "[]",
  underpaidToleranceMicros: 0n,
  overpaidToleranceMicros: 0n,
  latePaymentPolicy: "REVIEW",
  rateLockSeconds: 900,
  monitorSeconds: 7 * 86_400,
  origin: "API",
  eventSequence: 6,
  timelinePosition: 1,
  expiresAtMs: NOW_MS + HOUR_MS,
  lateGraceUntilMs: null,
  monitorUntilMs: NOW_MS + 7 * DAY_MS,
  cancelledAtMs: null,
  closedAtMs: null,
  createdAtMs: NOW_MS - HOUR_MS,
  updatedAtMs: NOW_MS,
};

const item = {
  id: derivedId("itl", OPERATION),
  invoiceId,
  position: 1,
  paymentStatus: "PAID",
  timeMs: NOW_MS,
} as const;
const file = {
  ...newFile({ invoice, customer: undefined, product: undefined, methods: [method] }, item),
  payments: [payment],
};
const body = invoiceBodyOf(file, { macKeys, publicUrl: "https://pay.example.com", nowMs: NOW_MS });

const member = memberBodyOf({
  id: memberId,
  merchantId,
  userId,
  role: "ADMIN",
  createdAtMs: NOW_MS - DAY_MS,
  email: "kim@example.com",
  name: "Kim",
});
const apiKey = apiKeyBodyOf(
  {
    id: derivedId("key", OPERATION),
    merchantId,
    name: "Shop server",
    kind: "SECRET",
    display: "sk_Vq1R...3Fq9",
    permissions: '["INVOICE_CREATE","INVOICE_VIEW"]',
    allowedIps: null,
    expiresAtMs: null,
    previousExpiresAtMs: null,
    lastUsedAtMs: null,
    createdAtMs: NOW_MS,
    createdBy: userId,
    givenTo: null,
    unusedUntilMs: null,
  },
  NOW_MS,
);

const [paid] = invoiceEventData({ invoice: body }, [{ previousStatus: "PENDING_CONFIRMATION" }]);

const exampleOf = <T extends EventType>(type: T, data: EventData[T], sequence: number | null = null) =>
  [type, textOf(type, JSON.stringify(data), sequence)] as const;

function textOf(type: EventType, data: string, sequence: number | null): string {
  return eventText({
    id: derivedId("evt", `${OPERATION}|${type}`),
    type,
    merchantId,
    sequence,
    data,
    createdAtMs: NOW_MS,
  });
}

/** Example events as text, by type: one from each domain. */
export const EXAMPLES: ReadonlyMap<string, string> = new Map([
  ["invoice.paid", textOf("invoice.paid", paid?.data ?? "", 6)],
  exampleOf("payment.unmatched", {
    payment: paymentBodyOf({ ...payment, invoiceId: null, status: "UNMATCHED", matchedBy: null }, []),
  }),
  exampleOf("wallet.detection_degraded", { network: "ETH", degradedSince: isoTime(NOW_MS), reason: "UNREACHABLE" }),
  exampleOf("team.role_changed", { memberId, member, previousRole: "MEMBER" }),
  exampleOf("api_key.created", { apiKeyId: derivedId("key", OPERATION), apiKey }),
  exampleOf("webhook.endpoint_disabled", {
    webhookId,
    url: "https://shop.example.com/webhooks",
    reason: "FAILING",
    failuresInRow: 480,
    failingSince: isoTime(NOW_MS - 5 * DAY_MS),
  }),
  exampleOf("ping", { webhookId }),
]);

/** One delivery of the ping, for developers who write their own verification. */
export const SIGNED = {
  eventId: derivedId("evt", `${OPERATION}|ping`),
  deliveryId: derivedId("dlv", OPERATION),
  webhookId,
  body: EXAMPLES.get("ping") ?? "",
  timestampSeconds: NOW_MS / 1_000,
};
