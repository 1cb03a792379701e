// An invoice that ended with too little money: the shop asks for the rest, and paying the amount that the page then shows pays the invoice.
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { MINUTE_MS } from "../../../src/lib/time.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { en } from "../../../src/platform/texts/en.ts";
import { timeText } from "../../../src/platform/texts/format.ts";
import { fill } from "../../../src/platform/texts/texts.ts";
import { send } from "../../support/access.ts";
import { shownText } from "../../support/checkout-html.ts";
import { BTC, btcKey, ETH, ethAddress, marketShop } from "../../support/market-shop.ts";
import { ageQuotes } from "../../support/quotes.ts";
import { testDb } from "../../support/worker-merchant.ts";

type Shop = Awaited<ReturnType<typeof marketShop>>;
const unitsOf = (amount: string, decimals: bigint) => BigInt(Math.round(Number(amount) * 1e8)) * (decimals / 10n ** 8n);

/** Changes the invoice so that it ended a moment ago. */
async function end(id: `inv_${string}`): Promise<void> {
  await ageQuotes(testDb, id, 5 * MINUTE_MS);
  const expiresAtMs = Date.now() - 1;
  await testDb.update(invoices).set({ expiresAtMs }).where(eq(invoices.id, id));
}

const resolve = (shop: Shop, id: string, action: string, more: object = {}) =>
  shop.send(`/invoices/${id}/resolve`, { method: "POST", body: { action, reason: "They called us", ...more } });
const shownTo = async (id: string) => (await send(`/pay/${id}/state`)).text;

describe.each([
  ["its own address", BTC, btcKey, 10n ** 8n],
  ["a shared address", ETH, ethAddress, 10n ** 18n],
] as const)("a half-paid invoice at %s", (_, pair, wallet, decimals) => {
  it("can be completed after it ends, by paying the new amount that the shop asks for", async () => {
    const shop = await marketShop(pair, wallet());
    const { id, address } = await shop.invoice(100);
    await shop.look([shop.transfer(address, decimals / 40n)]);
    const open = (await shop.send(`/invoices/${id}`)).json;
    expect(open.recommendation).toMatchObject({ action: "WAIT", reason: "REST_IS_ASKED", amount: "50.000000" });
    expect((await resolve(shop, id, "ASK_FOR_REST")).json.code).toBe("INVOICE_NOT_RESOLVABLE");
    await end(id);
    const over = (await shop.send(`/invoices/${id}`)).json;
    expect([over.status, over.recommendation]).toMatchObject([
      "UNDERPAID",
      { action: "ASK_FOR_REST", amount: "50.000000" },
    ]);
    expect(await shownTo(id)).not.toContain(`data-copy="${address}"`);
    const asked = await resolve(shop, id, "ASK_FOR_REST");
    expect([asked.status, asked.json.status, asked.json.resolution.action]).toEqual([200, "UNDERPAID", "ASK_FOR_REST"]);
    const again = (await shop.send(`/invoices/${id}`)).json;
    expect(again.recommendation).toMatchObject({ action: "WAIT", reason: "REST_IS_ASKED", until: again.monitorUntil });
    const [method] = again.paymentMethods;
    const page = await shownTo(id);
    expect(page).toContain(`data-copy="${address}"`);
    expect(page).toContain(`data-copy="${method.amountDue}"`);
    expect(page).toContain('data-part="codes"');
    const until = timeText("en", Date.parse(again.monitorUntil));
    expect(shownText(page)).toContain(fill(en.underpaidAccept, { time: until }));
    await shop.look([shop.transfer(address, unitsOf(method.amountDue, decimals))]);
    expect(await shop.invoiceState(id)).toMatchObject({ status: "PAID", received: 100, needsReview: false });
  });
});

describe("a payment that is too small", () => {
  it("counts even if it was late, once the shop has asked for the rest", async () => {
    const shop = await marketShop(BTC, btcKey());
    const { id, address } = await shop.invoice(100);
    await end(id);
    expect((await shop.send(`/invoices/${id}`)).json.status).toBe("EXPIRED");
    expect((await resolve(shop, id, "ASK_FOR_REST")).json.code).toBe("INVOICE_NOT_RESOLVABLE");
    await shop.look([shop.transfer(address, 2_500_000n)]);
    const late = (await shop.send(`/invoices/${id}`)).json;
    expect([late.status, late.isLate, late.needsReview]).toEqual(["EXPIRED", true, true]);
    expect(late.recommendation).toMatchObject({ action: "ASK_FOR_REST", reason: "LATE_AND_TOO_LITTLE" });
    const { json } = await resolve(shop, id, "ASK_FOR_REST");
    expect([json.status, json.isLate, json.needsReview, json.amountReceived]).toEqual([
      "UNDERPAID",
      false,
      false,
      "50.000000",
    ]);
    expect((await resolve(shop, id, "ASK_FOR_REST")).json.code).toBe("INVOICE_NOT_RESOLVABLE");
    const [method] = (await shop.send(`/invoices/${id}`)).json.paymentMethods;
    await shop.look([shop.transfer(address, unitsOf(method.amountDue, 10n ** 8n))]);
    expect(await shop.invoiceState(id)).toMatchObject({ status: "PAID", received: 100 });
  });

  it("is recommended for return once the invoice is no longer watched", async () => {
    const shop = await marketShop(BTC, btcKey());
    const { id, address } = await shop.invoice(100);
    await shop.look([shop.transfer(address, 2_500_000n)]);
    await end(id);
    await testDb
      .update(invoices)
      .set({ monitorUntilMs: Date.now() - 1 })
      .where(eq(invoices.id, id));
    const { recommendation } = (await shop.send(`/invoices/${id}`)).json;
    expect(recommendation).toMatchObject({ action: "RETURN", reason: "TOO_LITTLE_CAME", amount: "50.000000" });
    expect((await resolve(shop, id, "ASK_FOR_REST")).json.code).toBe("INVOICE_NOT_RESOLVABLE");
    const { json } = await resolve(shop, id, "RETURNED", { txHash: "ab" });
    expect([json.status, json.resolution.txHash, json.recommendation]).toEqual(["UNDERPAID", "ab", undefined]);
  });
});

describe("an invoice whose partial payment was sent back", () => {
  /** The shop gets 60 of 100, on time or late, asks for the rest, and then sends the 60 back instead. */
  async function sentBack(when: "in time" | "late") {
    const shop = await marketShop(BTC, btcKey());
    const { id, address } = await shop.invoice(100);
    if (when === "late") await end(id);
    await shop.look([shop.transfer(address, 3_000_000n)]);
    if (when === "in time") await end(id);
    await shop.send(`/invoices/${id}`);
    expect((await resolve(shop, id, "ASK_FOR_REST")).json.status).toBe("UNDERPAID");
    expect(await shownTo(id)).toContain(`data-copy="${address}"`);
    const { status, json } = await resolve(shop, id, "RETURNED", { txHash: "ab" });
    expect([status, json.status, json.needsReview, json.amountReceived]).toEqual([
      200,
      "UNDERPAID",
      false,
      "60.000000",
    ]);
    return { shop, id, address };
  }

  it.each(["in time", "late"] as const)(
    "no longer asks for the rest, and does not count later payments (first payment %s)",
    async (when) => {
      const { shop, id, address } = await sentBack(when);
      const read = (await shop.send(`/invoices/${id}`)).json;
      expect([read.status, read.needsReview, read.recommendation]).toEqual(["UNDERPAID", false, undefined]);
      expect(await shownTo(id)).not.toContain(`data-copy="${address}"`);
      expect((await resolve(shop, id, "ASK_FOR_REST")).json.code).toBe("INVOICE_NOT_RESOLVABLE");
      await shop.look([shop.transfer(address, 2_000_000n)]);
      expect(await shop.invoiceState(id)).toMatchObject({ status: "UNDERPAID", received: 60, needsReview: true });
      expect((await shop.send(`/invoices/${id}`)).json.isLate).toBe(true);
      expect((await resolve(shop, id, "DISMISS")).status).toBe(200);
      expect((await resolve(shop, id, "ASK_FOR_REST")).json.code).toBe("INVOICE_NOT_RESOLVABLE");
      expect(await shop.invoiceState(id)).toMatchObject({ status: "UNDERPAID", received: 60, needsReview: false });
    },
  );
});

describe("a recommendation", () => {
  it("is returned only with a single invoice, and only to the merchant", async () => {
    const shop = await marketShop(BTC, btcKey());
    const { id, address } = await shop.invoice(100);
    expect((await shop.send(`/invoices/${id}`)).json.recommendation).toBeUndefined();
    await shop.look([shop.transfer(address, 20_000_000n)]);
    const read = (await shop.send(`/invoices/${id}`)).json;
    expect([read.status, read.recommendation]).toMatchObject([
      "OVERPAID",
      { action: "RETURN", reason: "MORE_THAN_ASKED", amount: "300.000000" },
    ]);
    expect((await shop.send("/invoices")).json.data[0].recommendation).toBeUndefined();
    expect((await send(`/api/v1/checkout/${id}`)).json?.recommendation).toBeUndefined();
    const { json } = await resolve(shop, id, "RETURNED", { txHash: "ab" });
    expect([json.status, json.recommendation]).toEqual(["OVERPAID", undefined]);
  });

  it("for a payment at a shared address names the only order that fits, or advises a return, which is recorded", async () => {
    const shop = await marketShop(ETH, ethAddress());
    const { id, address } = await shop.invoice(100);
    const other = await shop.invoice(1_000);
    const fee = shop.transfer(address, (10n ** 18n * 47n) / 1_000n);
    const [lost, stray] = [shop.transfer(address, 10n ** 20n), shop.transfer(address, 2n * 10n ** 15n)];
    await shop.look([fee, lost, stray]);
    const detailsOf = async (transfer: typeof fee) => {
      const row = await shop.payment(transfer);
      return (await shop.send(`/payments/${row?.id}`)).json;
    };
    const wrong = await detailsOf(fee);
    expect(wrong.recommendation).toEqual({
      action: "ASSIGN",
      reason: "ONLY_ONE_FITS",
      invoiceId: id,
      amount: null,
      until: null,
    });
    const decide = (payment: { readonly id: string }, body: object) =>
      shop.send(`/payments/${payment.id}/resolve`, { method: "POST", body: { reason: "As advised", ...body } });
    const { json } = await decide(wrong, { action: "ASSIGN", invoiceId: wrong.recommendation.invoiceId });
    expect([json.status, json.recommendation]).toEqual(["CONFIRMED", undefined]);
    expect((await shop.send(`/invoices/${id}`)).json.recommendation).toMatchObject({ reason: "REST_IS_ASKED" });
    const nobodys = await detailsOf(lost);
    expect(nobodys.recommendation).toMatchObject({ action: "RETURN", reason: "NONE_FITS" });
    expect((await decide(nobodys, { action: "ASSIGN", invoiceId: other.id, txHash: "ab" })).status).toBe(400);
    const back = await decide(nobodys, { action: "IGNORE", txHash: "ab" });
    expect([back.json.status, back.json.resolution.txHash, back.json.recommendation]).toEqual([
      "IGNORED",
      "ab",
      undefined,
    ]);
  });
});
