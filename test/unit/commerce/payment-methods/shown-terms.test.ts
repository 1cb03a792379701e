// What allocators keep of an invoice: everything that a restore needs, and nothing that a buyer typed.
import { describe, expect, it } from "vitest";
import { parseTerms, printTerms } from "../../../../src/commerce/payment-methods/shown-terms.ts";
import { makeId } from "../../../../src/lib/ids.ts";
import { printJson } from "../../../../src/lib/typed-json.ts";
import { invoiceOf } from "../../../support/checkout-facts.ts";

const TYPED = { customerName: "Ann Buyer", customerAddress: "1 Main Street", customerPhoneNumber: "+1 555 0100" };

function kept(origin: "API" | "PUBLIC_KEY" | "PRODUCT_PAGE", metadata: Readonly<Record<string, string>>) {
  const invoice = { ...invoiceOf({}), origin, metadata: printJson(metadata) };
  const text = printTerms({ invoice, walletId: makeId("wal", "0".repeat(26)), quote: null, shownAtMs: 7 });
  return { invoice, text, terms: parseTerms(text) };
}

describe("the terms that an allocator keeps", () => {
  it.each(["PUBLIC_KEY", "PRODUCT_PAGE"] as const)("omit what a buyer typed (%s)", (origin) => {
    const { invoice, text, terms } = kept(origin, { order: "17", ...TYPED });
    for (const typed of Object.values(TYPED)) expect(text).not.toContain(typed);
    expect(terms).toMatchObject({ shownAtMs: 7, invoice: { ...invoice, metadata: '{"order":"17"}' } });
    expect(kept(origin, TYPED).terms?.invoice.metadata).toBeNull();
  });

  it("contain every field of the invoice if a buyer typed nothing, or if the merchant's server sent the text", () => {
    for (const { invoice, terms } of [kept("PRODUCT_PAGE", { order: "17" }), kept("API", TYPED)])
      expect(terms?.invoice).toEqual(invoice);
  });
});
