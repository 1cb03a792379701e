import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Permission } from "../../../../src/accounts/roles/permissions.ts";
import { createBodyOf, listAsked, listed } from "../../../../src/commerce/greenfield/invoice-request.ts";
import { type Metadata, packed, unpacked } from "../../../../src/commerce/greenfield/metadata.ts";
import { pairNamed, paymentMethodId } from "../../../../src/commerce/greenfield/payment-method-id.ts";
import { refusalOf } from "../../../../src/commerce/greenfield/refusal.ts";
import { rightFor, rightsOf } from "../../../../src/commerce/greenfield/rights.ts";
import { greenfieldWebhook, webhookBodyOf } from "../../../../src/commerce/greenfield/webhook.ts";
import { WEBHOOK_TYPES } from "../../../../src/commerce/greenfield/webhook-type.ts";
import type { Failure } from "../../../../src/platform/failures.ts";
import { answerTo } from "../../../../src/platform/http/errors.ts";

describe("metadata", () => {
  it("is returned as sent, for any JSON and any member names", () => {
    const name = fc.oneof(
      fc.string(),
      fc.constantFrom("greenfield:json", "greenfield:archived", "greenfield:", "orderId"),
    );
    const value = fc.jsonValue().map((each): Metadata[string] => JSON.parse(JSON.stringify(each)));
    fc.assert(
      fc.property(fc.dictionary(name, value), fc.boolean(), (metadata, isArchived) => {
        expect(unpacked(packed({ metadata, isArchived }))).toEqual({ metadata: { ...metadata }, isArchived });
      }),
    );
  });

  it("is converted to text for our own API, and text stays unchanged", () => {
    const own = packed({ metadata: { orderId: "1001", taxIncluded: 5.2, posData: '{"a":1}' }, isArchived: false });
    expect(own).toEqual({
      orderId: "1001",
      taxIncluded: "5.2",
      posData: '{"a":1}',
      "greenfield:json": '["taxIncluded"]',
    });
  });

  it("that was changed through our own API is read as JSON where possible", () => {
    expect(unpacked({ a: "x", "greenfield:json": '["a"]' }).metadata).toEqual({ a: "x" });
    expect(unpacked({ a: "1", "greenfield:json": "no" }).metadata).toEqual({ a: "1" });
    expect(unpacked(null)).toEqual({ metadata: {}, isArchived: false });
  });
});

describe("the name of a payment method", () => {
  it.each([
    [{ cryptocurrency: "BTC", network: "BTC" }, "BTC-CHAIN"],
    [{ cryptocurrency: "USDT", network: "TRX" }, "USDT-TRX"],
    [{ cryptocurrency: "BTC", network: "BTC_TESTNET" }, "BTC-BTC_TESTNET"],
  ])("for %o is %s, which is parsed to the same method", (pair, id) => {
    expect(paymentMethodId(pair)).toBe(id);
    expect(pairNamed(id)).toEqual(pair);
  });

  it("may be in the older form without a network", () => {
    for (const id of ["BTC", "BTC-OnChain"]) expect(pairNamed(id)).toEqual({ cryptocurrency: "BTC", network: "BTC" });
  });
});

describe("creating an invoice", () => {
  it("puts the order's number into the name and metadata, never into an external id", () => {
    const body = createBodyOf({
      amount: "49.90",
      currency: "EUR",
      metadata: { orderId: "1001", itemDesc: "Tea" },
      checkout: {
        redirectURL: "https://shop.example/{OrderId}/done",
        expirationMinutes: 15,
        paymentTolerance: 50,
        paymentMethods: ["BTC-CHAIN", "USDT-TRX"],
        speedPolicy: "HighSpeed",
      },
      receipt: { enabled: true },
    });
    expect(body).toEqual({
      name: "Order 1001",
      rawAmount: 49.9,
      currency: "EUR",
      description: "Tea",
      metadata: { orderId: "1001", itemDesc: "Tea" },
      redirectUrl: "https://shop.example/1001/done",
      expiresInSeconds: 900,
      underpaidTolerancePercent: 10,
      paymentMethods: [
        { cryptocurrency: "BTC", network: "BTC" },
        { cryptocurrency: "USDT", network: "TRX" },
      ],
    });
  });

  it("without an amount makes a top-up invoice, and keeps invalid values, so that they are refused later", () => {
    expect(createBodyOf({})).toEqual({ name: "Invoice", rawAmount: 0 });
    expect(createBodyOf({ amount: "1e3", metadata: "x" })).toMatchObject({ rawAmount: "1e3", metadata: "x" });
    expect(createBodyOf({ amount: "-1", checkout: { paymentMethods: "BTC" } })).toMatchObject({
      rawAmount: "-1",
      paymentMethods: "BTC",
    });
    for (const json of [undefined, null, "x", [1]]) expect(createBodyOf(json)).toBe(json);
  });

  it("expands placeholders only up to a limit, because the caller is not yet authenticated", () => {
    const worst = { metadata: { orderId: " ".repeat(32_000) }, checkout: { redirectURL: "{OrderId}".repeat(3_550) } };
    const text = (json: Parameters<typeof createBodyOf>[0]) => JSON.stringify(createBodyOf(json)).length;
    expect(text(worst)).toBeLessThan(JSON.stringify(worst).length + 1_000);
    // The longest order number that is inserted into a URL, and the URL with the most placeholders that are expanded.
    const longest = { metadata: { orderId: " ".repeat(200) }, checkout: { redirectURL: "{OrderId}".repeat(227) } };
    expect(text(longest)).toBeLessThan(150_000);
  });
});

describe("a list", () => {
  const item = (id: string, orderId: unknown, status = "New", archived = false) => {
    return { id, status, archived, metadata: { orderId: orderId as string } };
  };
  const found = [
    item("1", "10"),
    item("2", "100"),
    item("3", 10),
    item("4", "10", "Expired"),
    item("5", "10", "New", true),
  ];

  it("for one order has exactly that order's invoices, except archived ones", () => {
    const asked = listAsked(new URLSearchParams("orderId=10"));
    expect(asked.query.get("search")).toBe("10");
    expect(listed(asked, found).map(({ id }) => id)).toEqual(["1", "3", "4"]);
  });

  it("accepts several orders and states, and a window", () => {
    const several = listAsked(new URLSearchParams("orderId=10&orderId=100&status=New"));
    expect(listed(several, found).map(({ id }) => id)).toEqual(["1", "2", "3"]);
    const window = listAsked(new URLSearchParams("skip=1&take=2&includeArchived=true"));
    expect(listed(window, found).map(({ id }) => id)).toEqual(["2", "3"]);
  });

  it("accepts times in Unix seconds", () => {
    expect(listAsked(new URLSearchParams("startDate=1700000000")).query.get("createdFrom")).toBe(
      "2023-11-14T22:13:20.000Z",
    );
  });
});

describe("a refusal", () => {
  const refused = (failure: Failure) => refusalOf(failure, answerTo(failure), rightFor);

  it("lists the invalid fields if there are any, and otherwise has a code and a message", () => {
    const details = [
      { path: "rawAmount", message: "no" },
      { path: "paymentMethods.0.network", message: "is wrong" },
    ];
    const invalid = refused({ code: "VALIDATION_FAILED", details });
    expect(invalid).toEqual({
      status: 422,
      body: [
        { path: "amount", message: "no" },
        { path: "checkout.paymentMethods.0.network", message: "is wrong" },
      ],
    });
    const denied: Failure = { code: "PERMISSION_DENIED", permission: "INVOICE_CREATE" };
    expect(refused(denied)).toMatchObject({
      status: 403,
      body: {
        code: "missing-permission",
        message: expect.stringContaining("INVOICE_CREATE"),
        missingPermission: "btcpay.store.cancreateinvoice",
      },
    });
    const unpriced = refused({ code: "CURRENCY_NOT_PRICED", currency: "LBP", isDisputed: false });
    expect(unpriced).toMatchObject({ status: 422, body: [{ path: "currency", message: expect.any(String) }] });
    const unknown = refused({ code: "INVOICE_NOT_FOUND" });
    expect(unknown).toMatchObject({ status: 404, body: { code: "invoice-not-found", message: "Invoice not found" } });
  });
});

describe("rights", () => {
  it("are exactly those that WooCommerce asks for if the key was created for WooCommerce", () => {
    const held = [
      "invoice:view",
      "invoice:create",
      "invoice:update",
      "invoice:cancel",
      "merchant:view",
      "wallet:view",
    ] as const;
    const named = (permissions: readonly Permission[], rights: readonly string[] | null = null) =>
      rightsOf({ permissions: new Set(permissions), rights }, "mer_1").toSorted();
    expect(named(held)).toEqual([
      "btcpay.store.cancreateinvoice:mer_1",
      "btcpay.store.canmodifyinvoices:mer_1",
      "btcpay.store.canviewinvoices:mer_1",
      "btcpay.store.canviewstoresettings:mer_1",
    ]);
    expect(named(["invoice:update"])).toEqual([]);
    // This right includes none of our permissions, so a key has it only if an application requested it.
    expect(named(held, ["btcpay.store.canmodifystoresettings"])).toEqual(["btcpay.store.canmodifystoresettings:mer_1"]);
    // A key with granted rights has only those of them that we know, even if its permissions would include more.
    expect(named(held, ["btcpay.store.canmodifyinvoices", "of.a.later.release"])).toEqual([
      "btcpay.store.canmodifyinvoices:mer_1",
    ]);
  });
});

describe("an endpoint", () => {
  it("subscribes to every type if the plugin names none or all, and otherwise to each type that it names and that exists here", () => {
    const own = { url: "https://shop.example/", format: "GREENFIELD" };
    for (const authorizedEvents of [undefined, { everything: true }]) {
      const body = webhookBodyOf({ url: own.url, authorizedEvents: authorizedEvents ?? null }, true);
      expect(body).toMatchObject({ ...own, events: expect.arrayContaining(["invoice.paid", "payment.detected"]) });
    }
    const named = webhookBodyOf({ authorizedEvents: { specificEvents: ["InvoiceSettled", "PayoutCreated"] } }, false);
    expect(named).toEqual({ events: ["invoice.paid", "invoice.overpaid", "invoice.marked"] });
  });

  it("is shown with the types that it subscribes to", () => {
    const own = { id: "whk_1", url: "https://shop.example/", isActive: true, retryCount: 9, format: "GREENFIELD" };
    expect(greenfieldWebhook({ ...own, events: ["invoice.paid", "invoice.overpaid", "invoice.marked"] })).toEqual({
      id: "whk_1",
      url: own.url,
      enabled: true,
      automaticRedelivery: true,
      authorizedEvents: { everything: false, specificEvents: ["InvoiceSettled"] },
    });
    expect(WEBHOOK_TYPES).toContain("InvoiceCreated");
  });
});
