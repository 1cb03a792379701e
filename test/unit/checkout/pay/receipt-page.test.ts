import { describe, expect, it } from "vitest";
import { receiptPage } from "../../../../src/checkout/pay/receipt-page.tsx";
import type { CheckoutView } from "../../../../src/checkout/pay/view.ts";
import { LANGUAGES, type Language } from "../../../../src/platform/texts/languages.ts";
import { textsOf } from "../../../../src/platform/texts/texts.ts";
import { checkoutViewOf, chromeOf, PAYMENT, STAGES } from "../../../support/checkout-views.ts";

function receipt(view: CheckoutView, language: Language = "en"): string {
  return String(receiptPage({ chrome: chromeOf(language), view }));
}

describe("the receipt", () => {
  it("shows the shop, the order, the amounts, the date and the transactions", () => {
    const html = receipt(checkoutViewOf("paid"));
    for (const text of ["Flowers", "Order 1042", "€49.90", "Oct 2, 2026", "57.281437 USDT", PAYMENT.txHash]) {
      expect(html).toContain(text);
    }
    expect(html).toContain("inv_01JAB2C3D4E5F6G7H8J9KMNPQR");
    expect(html).toContain("data-print");
  });

  it("also shows the invoiced amount if more was received", () => {
    const html = receipt(checkoutViewOf("overpaid"));
    expect(html).toContain("€59.90");
    expect(html).toContain("€49.90");
  });

  it("lists only confirmed payments, and marks a late one", () => {
    const payments = [
      { ...PAYMENT, state: "confirmed" as const, txHash: "counted" },
      { ...PAYMENT, state: "confirmed" as const, isLate: true, txHash: "late" },
      { ...PAYMENT, state: "gone" as const, txHash: "vanished" },
      { ...PAYMENT, txHash: "unconfirmed" },
    ];
    const html = receipt(checkoutViewOf("paid", { payments }));
    const shown = payments.map(({ txHash }) => txHash).filter((txHash) => html.includes(`>${txHash}<`));
    expect(shown).toEqual(["counted", "late"]);
    expect(html.split(textsOf("en").late)).toHaveLength(2);
  });

  it("says that there is no receipt before the invoice is paid", () => {
    for (const stage of STAGES.filter((each) => each !== "paid" && each !== "overpaid")) {
      const html = receipt(checkoutViewOf(stage));
      expect(html).toContain(textsOf("en").receiptNone);
      expect(html).not.toContain("<dl>");
    }
  });

  it.each(Object.keys(LANGUAGES) as Language[])("has no unfilled placeholder in %s", (language) => {
    for (const stage of ["paid", "overpaid", "pay"] as const) {
      const html = receipt(checkoutViewOf(stage), language);
      expect(html.replaceAll(/<style.*?<\/style>/gs, "")).not.toMatch(/\{\w+\}|undefined|\[object/);
    }
  });
});
