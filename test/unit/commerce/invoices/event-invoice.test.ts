import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { invoiceEventData } from "../../../../src/commerce/invoices/event-invoice.ts";
import type { InvoiceBody, MethodBody } from "../../../../src/commerce/invoices/invoice-body.ts";
import type { InvoiceFacts } from "../../../../src/commerce/invoices/invoice-events.ts";
import type { PaymentBody } from "../../../../src/commerce/payments/payment-body.ts";
import { makeId } from "../../../../src/lib/ids.ts";
import { assertEventSize, eventText, MAX_DATA_BYTES, MAX_EVENT_BYTES } from "../../../../src/platform/events/event.ts";
import { RUNS } from "../../../support/property-runs.ts";

const AT = "2026-11-21T12:00:00.000Z";
const ULID = "01KAJ0000000000000000000ZZ";
const bytes = (text: string) => new TextEncoder().encode(text).length;

/** A payment in which each member has its longest value: for example, its hash has 0x and its amount has 33 digits. */
function payment(n: number): PaymentBody {
  return {
    id: makeId("pay", `${ULID.slice(0, 20)}${String(n).padStart(6, "0")}`),
    invoiceId: makeId("inv", ULID),
    merchantId: makeId("mer", ULID),
    chainId: 4_294_967_295,
    network: "AVALANCHE_C",
    currency: "USDC.e-long",
    txHash: `0x${"f".repeat(64)}`,
    outputIndex: "4294967295".repeat(2),
    fromAddress: "b".repeat(90),
    toAddress: "b".repeat(90),
    amount: `${"9".repeat(15)}.${"9".repeat(18)}`,
    fiatAmount: "1000000000000.000000",
    status: "CONFIRMED",
    confirmations: 1_000_000,
    requiredConfirmations: 1_000,
    blockHeight: 1e12,
    isLate: false,
    matchedBy: "SOLE_CANDIDATE",
    receivedTxAt: AT,
    confirmedTxAt: AT,
    createdAt: AT,
    updatedAt: AT,
  };
}

function method(n: number, status: MethodBody["status"]): MethodBody {
  return {
    cryptocurrency: `COIN${n}`,
    network: "AVALANCHE_C",
    status,
    reason: "INTEGRITY_CHECK_FAILED",
    address: "b".repeat(90),
    amount: "9".repeat(34),
    amountDue: "9".repeat(34),
    rate: "9".repeat(40),
    rateAt: AT,
    quotedAt: AT,
    paymentUri: "u".repeat(250),
    requiredConfirmations: 1_000,
  };
}

function invoice(of: Partial<InvoiceBody> = {}, counts: { payments?: number; items?: number } = {}): InvoiceBody {
  const invoiceId = makeId("inv", ULID);
  return {
    id: invoiceId,
    merchantId: makeId("mer", ULID),
    customerId: null,
    productId: null,
    name: "Order 1",
    origin: "API",
    description: null,
    redirectUrl: null,
    rawAmount: "1.000000",
    endAmount: "1.000000",
    currency: "USD",
    status: "PAID",
    expiresAt: AT,
    createdAt: AT,
    updatedAt: AT,
    customer: null,
    product: null,
    payments: Array.from({ length: counts.payments ?? 0 }, (_, n) => payment(n)),
    invoiceTimeline: Array.from({ length: counts.items ?? 1 }, (_, n) => ({
      id: makeId("itl", `${ULID.slice(0, 20)}${String(n).padStart(6, "0")}`),
      invoiceId,
      ...({ paymentStatus: "PENDING_CONFIRMATION", time: AT } as const),
    })),
    metadata: null,
    externalId: null,
    checkoutUrl: `https://pay.example/pay/${invoiceId}`,
    paymentMethods: [],
    amountReceived: "1.000000",
    amountConfirmed: "1.000000",
    isLate: false,
    needsReview: false,
    resolution: null,
    warnings: [],
    lateGraceUntil: null,
    monitorUntil: AT,
    ...of,
  };
}

interface EventData {
  readonly invoice: InvoiceBody;
  readonly truncated?: readonly string[];
}

function eventData(body: InvoiceBody, facts: readonly InvoiceFacts[] = [{}]): EventData {
  return JSON.parse(invoiceEventData({ invoice: body }, facts)[0]?.data ?? "");
}

/** An invoice with the longest values that our contracts allow. `unit` is the code point that takes the most bytes in JSON. */
function largest(unit: string, counts: { payments: number; items: number; methods: number }): InvoiceBody {
  const of = (codePoints: number) => unit.repeat(codePoints);
  const [key, value] = ["k".repeat(100), "v".repeat(8_080)];
  return invoice(
    {
      name: of(200),
      description: of(1_000),
      redirectUrl: `https://shop.example/${"\u{20ac}".repeat(2_027)}`,
      metadata: { [key]: value },
      externalId: of(200),
      customerId: makeId("cus", ULID),
      customer: {
        id: makeId("cus", ULID),
        merchantId: makeId("mer", ULID),
        email: `${"e".repeat(316)}@b.c`,
        name: of(200),
        address: of(500),
        phoneNumber: of(50),
        createdAt: AT,
        updatedAt: AT,
      },
      productId: makeId("prd", ULID),
      product: {
        id: makeId("prd", ULID),
        merchantId: makeId("mer", ULID),
        name: of(200),
        description: of(1_000),
        price: "1000000.000000",
        currency: "USD",
        image: `https://pay.example/${"i".repeat(180)}`,
        signedImage: `https://pay.example/${"i".repeat(180)}`,
        isActive: true,
        askForName: true,
        askForAddress: true,
        askForPhoneNumber: true,
        createdAt: AT,
        updatedAt: AT,
        deletedAt: null,
        checkoutUrl: `https://pay.example/buy/${makeId("prd", ULID)}`,
      },
      paymentMethods: Array.from({ length: counts.methods }, (_, n) => method(n, n % 2 ? "ACTIVE" : "UNAVAILABLE")),
      resolution: { action: "RETURNED", reason: of(500), actor: makeId("usr", ULID), at: AT, txHash: of(100) },
      warnings: ["RATE_UNAVAILABLE", "INTEGRITY_CHECK_FAILED", "NETWORK_NOT_WATCHED", "LOW_CONFIRMATIONS"],
    },
    counts,
  );
}

describe("the invoice in an event", () => {
  test("is exactly the text that GET returns if that text is short enough, and is not serialized again", () => {
    const body = invoice({}, { payments: 2, items: 3 });
    const json = JSON.stringify(body);
    const data = invoiceEventData({ invoice: body, json: `${json} ` }, [{ previousStatus: "PAID" }, {}]);
    expect(data.map((each) => each.data)).toEqual([
      `{"invoiceId":"${body.id}","invoice":${json} ,"previousStatus":"PAID"}`,
      `{"invoiceId":"${body.id}","invoice":${json} }`,
    ]);
    expect(data.map((each) => each.data.slice(0, each.headLength))).toEqual(
      Array(2).fill(`{"invoiceId":"${body.id}","invoice":${json} `),
    );
  });

  test("has the newest 20 payments and timeline items, and does not report the older ones as truncated", () => {
    const body = invoice({}, { payments: 21, items: 25 });
    const { truncated, ...data } = eventData({
      ...body,
      payments: body.payments.map((each) => ({ ...each, fromAddress: "a", toAddress: "a", txHash: "c" })),
    });
    expect(data.invoice.payments.map(({ id }) => id)).toEqual(body.payments.slice(1).map(({ id }) => id));
    expect(data.invoice.invoiceTimeline).toEqual(body.invoiceTimeline.slice(5));
    expect(truncated).toBeUndefined();
  });

  test.each([
    ["lists are cut to 5", { payments: 20, items: 5, methods: 5 }, {}, ["payments"]],
    ["inactive payment methods are cut to 5", { payments: 0, items: 1, methods: 40 }, {}, ["paymentMethods"]],
    [
      "absent or empty members are not listed",
      { payments: 0, items: 1, methods: 0 },
      { description: "d".repeat(19_000) },
      ["description"],
    ],
  ] as const)("is shortened in a fixed order and lists what was omitted: %s", (_, counts, more, expected) => {
    const body = invoice(
      {
        paymentMethods: Array.from({ length: counts.methods }, (_, n) => method(n, n % 2 ? "ACTIVE" : "UNAVAILABLE")),
        ...more,
      },
      counts,
    );
    const cut = eventData({ ...body, metadata: { order: "4711" } });
    expect(cut.truncated).toEqual(expected);
    expect(cut.invoice.metadata).toEqual({ order: "4711" });
    expect(cut.invoice.payments).toEqual(body.payments.slice(-5));
    expect(cut.invoice.paymentMethods.length).toBeLessThanOrEqual(expected[0] === "paymentMethods" ? 5 : 40);
  });

  test("fits even if it is the largest that the contracts accept, whatever else the event contains", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("\u0001", "\ud800", "\u{1f600}", "\u20ac", "a"),
        fc.record({ payments: fc.nat(100), items: fc.nat(100), methods: fc.nat(30) }),
        fc.boolean(),
        (unit, counts, isPayment) => {
          const facts = isPayment
            ? { payment: payment(0) }
            : { paymentMethod: method(0, "ACTIVE"), previousStatus: "PAID" as const };
          const body = largest(unit, counts);
          const [{ data } = { data: "" }] = invoiceEventData({ invoice: body }, [facts, {}]);
          const row = { id: makeId("evt", ULID), type: "invoice.pending_confirmation", data };
          assertEventSize(row);
          const text = eventText({ ...row, merchantId: body.merchantId, sequence: 1e9, createdAtMs: 1e12 });
          expect(bytes(text)).toBeLessThanOrEqual(MAX_EVENT_BYTES);
          const { id, status, externalId, amountReceived } = eventData(body, [facts]).invoice;
          expect({ id, status, externalId, amountReceived }).toEqual({
            id: body.id,
            status: body.status,
            externalId: body.externalId,
            amountReceived: body.amountReceived,
          });
        },
      ),
      { numRuns: RUNS / 5 },
    );
  });

  test("takes less than 2 MB in total if one change has 200 payment events", () => {
    const facts = Array.from({ length: 200 }, (_, n) => ({ payment: payment(n % 100) }));
    const data = invoiceEventData({ invoice: invoice({}, { payments: 100, items: 100 }) }, facts);
    expect(data.reduce((sum, each) => sum + bytes(each.data), 0)).toBeLessThan(2_000_000);
  });
});

describe("an event that is too large", () => {
  test("is refused even if its data is only one byte too long", () => {
    const ofBytes = (count: number) => `"${"\u20ac".repeat(1_000)}${"a".repeat(count - 3_002)}"`;
    const row = { id: makeId("evt", ULID), type: "ping" };
    expect(() => assertEventSize({ ...row, data: ofBytes(MAX_DATA_BYTES) })).not.toThrow();
    expect(() => assertEventSize({ ...row, data: ofBytes(MAX_DATA_BYTES + 1) })).toThrow("ping");
  });
});
