// The objects as the interface describes them, and checks that they have exactly these members.
import { expect } from "vitest";

export interface Refusal {
  readonly statusCode: number;
  readonly message: string;
  readonly error: string;
  readonly code: string;
  readonly requestId: string;
  readonly details?: readonly { readonly path: string; readonly message: string }[];
}

export interface Wallet {
  readonly id: string;
  readonly merchantId: string;
  readonly walletType: "DIRECT_WALLET" | "XPUB_WALLET";
  readonly cryptocurrency: string;
  readonly network: string;
  readonly address: string | null;
  readonly xpub: string | null;
  readonly derivationPath: string | null;
  readonly requiredConfirmations: number;
  readonly isEnabled: boolean;
  readonly lastUsedIndex: number | null;
  readonly nextIndex: number | null;
  readonly gap: number | null;
  readonly scheme: "BIP44" | "BIP49" | "BIP84" | null;
  readonly warnings: readonly string[];
  readonly usableFrom: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Only in the response to the registration of an extended key. */
  readonly firstAddress?: string;
}

export interface PaymentMethod {
  readonly cryptocurrency: string;
  readonly network: string;
  readonly status: "AVAILABLE" | "ACTIVE" | "UNAVAILABLE";
  readonly reason: string | null;
  readonly address: string | null;
  readonly amount: string | null;
  readonly amountDue: string | null;
  readonly rate: string | null;
  readonly rateAt: string | null;
  readonly quotedAt: string | null;
  readonly paymentUri: string | null;
  readonly requiredConfirmations: number;
}

interface Customer {
  readonly id: string;
  readonly merchantId: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly address: string | null;
  readonly phoneNumber: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

interface TimelineItem {
  readonly id: string;
  readonly invoiceId: string;
  readonly paymentStatus: string;
  readonly time: string;
}

/** Decisions 4, `resolve`. */
interface Resolution {
  readonly action: "ACCEPT" | "DISMISS" | "RETURNED";
  readonly reason: string;
  readonly actor: string;
  readonly at: string;
  readonly txHash: string | null;
}

export interface Invoice {
  readonly id: string;
  readonly merchantId: string;
  readonly customerId: string | null;
  readonly productId: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly redirectUrl: string | null;
  readonly rawAmount: string;
  readonly endAmount: string;
  readonly currency: string;
  readonly status: string;
  readonly expiresAt: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly customer: Customer | null;
  readonly product: null;
  readonly payments: readonly unknown[];
  readonly invoiceTimeline: readonly TimelineItem[];
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly externalId: string | null;
  readonly origin: string;
  readonly checkoutUrl: string;
  readonly paymentMethods: readonly PaymentMethod[];
  readonly amountReceived: string;
  readonly amountConfirmed: string;
  readonly isLate: boolean;
  readonly needsReview: boolean;
  readonly resolution: Resolution | null;
  readonly warnings: readonly string[];
  readonly lateGraceUntil: string | null;
  readonly monitorUntil: string;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
  readonly pagination?: {
    readonly page: number;
    readonly limit: number;
    readonly total: number;
    readonly lastPage: number;
  };
}

/** Decisions 5, the payer's claim. */
export interface Claim {
  readonly id: string;
  readonly invoiceId: string;
  readonly network: string;
  readonly txHash: string;
  readonly outcome: "FOUND" | "NOT_FOUND" | "UNAVAILABLE";
  readonly standing: string;
  readonly amounts: readonly { readonly cryptocurrency: string; readonly amount: string }[];
  readonly createdAt: string;
}

/** Prefix and ULID: 26 characters of Crockford base32, the first at most 7 (decisions 1). */
export function idOf(prefix: string): RegExp {
  return new RegExp(`^${prefix}_[0-7][0-9A-HJKMNP-TV-Z]{25}$`);
}

/** ISO 8601 with milliseconds in UTC (decisions 1). */
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Precision 15,6 as text (Interface 2.2). */
const FIAT = /^\d{1,9}\.\d{6}$/;
/** A crypto amount: plain decimal text. */
const DECIMAL = /^\d+(\.\d+)?$/;

const text = (pattern: RegExp) => expect.stringMatching(pattern);
const nullOr = (value: unknown, matcher: unknown) => (value === null ? null : matcher);

/** Decisions 3 "Responses": exactly these fields, whatever the wallet's type. */
export function expectWalletShape(wallet: Wallet): void {
  const isXpub = wallet.walletType === "XPUB_WALLET";
  const { firstAddress, ...rest } = wallet;
  if (!isXpub) expect(firstAddress).toBeUndefined();
  expect(rest).toStrictEqual({
    id: text(idOf("wal")),
    merchantId: text(idOf("mer")),
    walletType: text(/^(DIRECT|XPUB)_WALLET$/),
    cryptocurrency: text(/^[A-Z]+$/),
    network: text(/^[A-Z_]+$/),
    address: isXpub ? null : expect.any(String),
    xpub: isXpub ? expect.any(String) : null,
    derivationPath: isXpub ? expect.any(String) : null,
    requiredConfirmations: expect.any(Number),
    isEnabled: expect.any(Boolean),
    lastUsedIndex: isXpub ? expect.any(Number) : null,
    nextIndex: isXpub ? expect.any(Number) : null,
    gap: isXpub ? expect.any(Number) : null,
    scheme: isXpub ? text(/^BIP(44|49|84)$/) : null,
    warnings: expect.any(Array),
    usableFrom: nullOr(wallet.usableFrom, text(TIMESTAMP)),
    createdAt: text(TIMESTAMP),
    updatedAt: text(TIMESTAMP),
  });
}

/** Decisions 4, "Payment methods". */
export function expectMethodShape(method: PaymentMethod): void {
  const isActive = method.status === "ACTIVE";
  expect(method).toStrictEqual({
    cryptocurrency: text(/^[A-Z]+$/),
    network: text(/^[A-Z_]+$/),
    status: text(/^(AVAILABLE|ACTIVE|UNAVAILABLE)$/),
    reason: nullOr(method.reason, text(/^[A-Z_]+$/)),
    address: isActive ? expect.any(String) : null,
    amount: nullOr(method.amount, text(DECIMAL)),
    amountDue: nullOr(method.amountDue, text(DECIMAL)),
    rate: nullOr(method.rate, text(DECIMAL)),
    rateAt: nullOr(method.rateAt, text(TIMESTAMP)),
    quotedAt: isActive ? text(TIMESTAMP) : null,
    paymentUri: isActive ? text(/^[a-z]+:\S+$/) : null,
    requiredConfirmations: expect.any(Number),
  });
}

/** Interface 2.2 "Response fields" and decisions 4 "Additive response fields": always exactly these. */
export function expectInvoiceShape(invoice: Invoice): void {
  expect(invoice).toStrictEqual({
    id: text(idOf("inv")),
    merchantId: text(idOf("mer")),
    customerId: nullOr(invoice.customerId, text(idOf("cus"))),
    productId: null,
    name: expect.any(String),
    description: nullOr(invoice.description, expect.any(String)),
    redirectUrl: nullOr(invoice.redirectUrl, text(/^https?:/i)),
    rawAmount: text(FIAT),
    endAmount: invoice.rawAmount,
    currency: text(/^[A-Z]+$/),
    status: text(/^[A-Z_]+$/),
    expiresAt: text(TIMESTAMP),
    createdAt: text(TIMESTAMP),
    updatedAt: text(TIMESTAMP),
    customer: nullOr(invoice.customer, {
      id: invoice.customerId,
      merchantId: invoice.merchantId,
      email: nullOr(invoice.customer?.email, expect.any(String)),
      name: nullOr(invoice.customer?.name, expect.any(String)),
      address: nullOr(invoice.customer?.address, expect.any(String)),
      phoneNumber: nullOr(invoice.customer?.phoneNumber, expect.any(String)),
      createdAt: text(TIMESTAMP),
      updatedAt: text(TIMESTAMP),
    }),
    product: null,
    payments: [],
    invoiceTimeline: invoice.invoiceTimeline.map(() => ({
      id: text(idOf("itl")),
      invoiceId: invoice.id,
      paymentStatus: text(/^[A-Z_]+$/),
      time: text(TIMESTAMP),
    })),
    metadata: nullOr(invoice.metadata, expect.any(Object)),
    externalId: nullOr(invoice.externalId, expect.any(String)),
    origin: "API",
    checkoutUrl: text(/^https?:\/\/\S+$/),
    paymentMethods: expect.any(Array),
    amountReceived: text(FIAT),
    amountConfirmed: text(FIAT),
    isLate: expect.any(Boolean),
    needsReview: expect.any(Boolean),
    resolution: nullOr(invoice.resolution, {
      action: text(/^(ACCEPT|DISMISS|RETURNED)$/),
      reason: expect.any(String),
      actor: text(/^(key|usr)_/),
      at: text(TIMESTAMP),
      txHash: nullOr(invoice.resolution?.txHash, expect.any(String)),
    }),
    warnings: expect.any(Array),
    lateGraceUntil: nullOr(invoice.lateGraceUntil, text(TIMESTAMP)),
    monitorUntil: text(TIMESTAMP),
  });
  expect(invoice.invoiceTimeline.length).toBeGreaterThan(0);
  for (const method of invoice.paymentMethods) expectMethodShape(method);
}
