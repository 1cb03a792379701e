import { describe, expect, it } from "vitest";
import { newCustomer } from "../../../../src/commerce/customers/customer.ts";
import { type AskedCustomer, customerOf, metadataOf } from "../../../../src/commerce/invoices/invoice-customer.ts";
import { makeId } from "../../../../src/lib/ids.ts";

const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const merchant = { id: makeId("mer", ULID) };
const NOW_MS = 2_000;
const KNOWN = newCustomer(
  { id: makeId("cus", ULID), merchantId: merchant.id },
  { customerEmail: "jane@example.com", customerName: "Jane" },
  1_000,
);
const noCustomer = { customer: undefined };

const SECRET = { origin: "API" } as const;
const PUBLIC = { origin: "PUBLIC_KEY" } as const;
const PAGE = { origin: "PRODUCT_PAGE" } as const;

const asked = (from: object, invoice: AskedCustomer["invoice"], facts: AskedCustomer["facts"] = noCustomer) =>
  ({ merchant, invoice, facts, ...from }) as AskedCustomer;

describe("the customer of an invoice", () => {
  it.each([
    ["a secret key", SECRET],
    ["a public key", PUBLIC],
    ["a product page", PAGE],
  ])("is absent when %s names none", (_, from) => {
    expect(customerOf(asked(from, {}), ULID, NOW_MS)).toBeUndefined();
  });

  it.each([
    ["a secret key", SECRET, true],
    ["a public key", PUBLIC, false],
    ["a product page", PAGE, true],
  ])("without an email is created by %s: %j", (_, from, isMade) => {
    const customer = customerOf(asked(from, { customerName: "Jane" }), ULID, NOW_MS);
    expect(customer !== undefined).toBe(isMade);
    if (isMade) expect(customer).toMatchObject({ email: null, name: "Jane" });
  });

  it.each([
    ["a secret key", SECRET],
    ["a public key", PUBLIC],
    ["a product page", PAGE],
  ])("with a new email is created by %s with every given field", (_, from) => {
    const invoice = { customerEmail: "new@example.com", customerName: "Jane", customerPhoneNumber: "1" };
    const customer = customerOf(asked(from, invoice), ULID, NOW_MS);
    expect(customer).toMatchObject({ email: "new@example.com", name: "Jane", phoneNumber: "1", address: null });
  });

  it("with a known email is changed only by a secret key", () => {
    const invoice = { customerEmail: "jane@example.com", customerName: "Janet" };
    const facts = { customer: KNOWN };
    expect(customerOf(asked(SECRET, invoice, facts), ULID, NOW_MS)).toEqual({
      ...KNOWN,
      name: "Janet",
      updatedAtMs: NOW_MS,
    });
    expect(
      customerOf(asked(SECRET, { customerName: "Jane", customerEmail: "jane@example.com" }, facts), ULID, NOW_MS),
    ).toEqual(KNOWN);
    for (const from of [PUBLIC, PAGE]) expect(customerOf(asked(from, invoice, facts), ULID, NOW_MS)).toBe(KNOWN);
  });
});

describe("the metadata of an invoice", () => {
  const invoice = { customerEmail: "jane@example.com", customerName: "Janet", customerAddress: "1 Main St" };
  const facts = { customer: KNOWN };

  it("keeps what a payer typed on a product page if it cannot be written to the known customer", () => {
    expect(metadataOf(asked(PAGE, invoice, facts))).toEqual({ customerName: "Janet", customerAddress: "1 Main St" });
    expect(metadataOf(asked(PAGE, { ...invoice, customerName: "Jane" }, facts))).toEqual({
      customerAddress: "1 Main St",
    });
  });

  it("does not repeat what the customer already has", () => {
    expect(metadataOf(asked(PAGE, invoice))).toBeUndefined();
    const same = { customerEmail: "jane@example.com", customerName: "Jane" };
    expect(metadataOf(asked(PAGE, same, facts))).toBeUndefined();
  });

  it("equals the metadata of a request with a key, and contains nothing from the customer fields", () => {
    for (const from of [SECRET, PUBLIC]) expect(metadataOf(asked(from, invoice, facts))).toBeUndefined();
    const metadata = { order: "7" };
    expect(metadataOf(asked(SECRET, { ...invoice, metadata }, facts))).toBe(metadata);
  });
});
