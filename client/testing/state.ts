// What the fake stores: the service's rows, in memory, and joined reads like those of the service.
import type { MerchantRow } from "../../src/accounts/merchant-records/store.ts";
import type { CustomerRecord } from "../../src/commerce/customers/customer.ts";
import type { Invoice, InvoiceFile } from "../../src/commerce/invoice-records/invoice.ts";
import type { BodyContext } from "../../src/commerce/invoices/invoice-body.ts";
import { mergePayments, type Payment, type PaymentEvidence } from "../../src/commerce/payments/payment.ts";
import type { Product } from "../../src/commerce/products/product.ts";
import type { MacKeys } from "../../src/commerce/wallet-records/row-mac.ts";
import type { Wallet } from "../../src/commerce/wallet-records/wallet.ts";
import { type DeliveryId, type IdPrefix, type MerchantId, makeId, ulidTime } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import type { JsonOf } from "../../src/lib/typed-json.ts";
import type { Webhook } from "../../src/notifications/webhooks/webhook.ts";
import type { OutboxEvent } from "../../src/platform/events/event.ts";
import { Refused } from "./refusal.ts";

type FakeInvoice = Pick<InvoiceFile, "invoice" | "methods" | "timeline">;

export interface FakeWebhook {
  readonly webhook: Webhook;
  readonly secret: string;
}

/** An event that an endpoint has not accepted yet. */
export interface FakeDelivery {
  readonly webhookId: string;
  readonly event: OutboxEvent;
  readonly id: DeliveryId;
}

/** An amount that an invoice asks for at the address of a pair. */
interface HeldAmount {
  readonly invoiceId: string;
  readonly pair: string;
  readonly priceUnits: bigint;
  readonly units: bigint;
}

export interface FakeState {
  readonly merchant: MerchantRow;
  /** The service's origin, without a slash at the end. */
  readonly origin: string;
  readonly macKeys: MacKeys;
  readonly wallets: readonly Wallet[];
  /** Rows in the order of creation, by their ids. */
  readonly invoices: Map<string, FakeInvoice>;
  readonly payments: Map<string, Payment>;
  readonly evidence: Map<string, JsonOf<Partial<PaymentEvidence>>>;
  readonly products: Map<string, Product>;
  readonly customers: Map<string, CustomerRecord>;
  readonly webhooks: Map<string, FakeWebhook>;
  readonly amounts: HeldAmount[];
  readonly events: OutboxEvent[];
  readonly deliveries: FakeDelivery[];
  now(): number;
  /** An id greater than every earlier one. */
  newId<P extends IdPrefix>(prefix: P): `${P}_${string}`;
}

/** Ids in the service's form, with a counter instead of the random part. */
export function idMaker(now: () => number): FakeState["newId"] {
  let count = 0;
  let latestMs = 0;
  return (prefix) => {
    count += 1;
    latestMs = Math.max(latestMs, now());
    return makeId(prefix, ulidTime(latestMs) + ulidTime(count).padStart(16, "0"));
  };
}

/** A new merchant, with the defaults of the table; a test compares them. */
export function newMerchant(id: MerchantId, nowMs: number): MerchantRow {
  return {
    id,
    name: "Fake",
    invoiceLifetimeSeconds: 3_600,
    rateLockSeconds: 3_600,
    underpaidToleranceBasisPoints: 100,
    underpaidToleranceMaxMicros: 5_000_000n,
    overpaidToleranceBasisPoints: 500,
    monitorSeconds: 86_400,
    latePaymentPolicy: "REVIEW",
    lateGraceSeconds: 0,
    quorumAboveMicros: null,
    walletChangeDelayHours: 0,
    walletChangeDelayNextHours: null,
    walletChangeDelayNextFromMs: null,
    maxActiveInvoices: LIMITS.maxActiveInvoices,
    maxPublicInvoices: LIMITS.maxPublicInvoices,
    mailReceiptsToCustomers: true,
    mailReceiptsToMerchant: false,
    activeInvoices: 0,
    publicInvoices: 0,
    brand: null,
    frameAncestors: null,
    formerStoreId: null,
    suspendedAtMs: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    deletedAtMs: null,
  };
}

/** An invoice as stored, with its current relations. */
export function fileOf(state: FakeState, id: string): InvoiceFile {
  const stored = state.invoices.get(id);
  if (stored === undefined) throw new Refused({ code: "INVOICE_NOT_FOUND" });
  const { customerId, productId } = stored.invoice;
  return {
    ...stored,
    customer: state.customers.get(customerId ?? ""),
    product: state.products.get(productId ?? ""),
    payments: paymentsOf(state, stored.invoice),
    // The invoice's networks count as read up to now.
    cursors: [],
  };
}

function paymentsOf({ payments }: FakeState, { id }: Invoice): readonly Payment[] {
  const own = [...payments.values()].filter(({ invoiceId }) => invoiceId === id);
  return mergePayments([], own);
}

export function bodyContext(state: FakeState): BodyContext {
  return { macKeys: state.macKeys, publicUrl: state.origin, nowMs: state.now() };
}
