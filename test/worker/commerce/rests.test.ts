// Paying the rest that the page asks for after a partial payment must pay the invoice, however small the rest is, however late it is paid, and
// whatever other invoices ask for.
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { networkNamed } from "../../../src/chains/registry/networks.ts";
import { candidateUnits } from "../../../src/commerce/amounts/direct-amount.ts";
import { applyTransfers } from "../../../src/detection/matching/apply-transfers.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { TimeLimitError } from "../../../src/platform/db/retry.ts";
import { invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { freeAmounts, occupy } from "../../support/amounts.ts";
import { BTC, btcKey, ETH, ethAddress, marketShop } from "../../support/market-shop.ts";
import { ageQuotes } from "../../support/quotes.ts";
import { testDb } from "../../support/worker-merchant.ts";

const WEI = 10n ** 18n;
const unitsOf = (amount: string, decimals: bigint) => BigInt(Math.round(Number(amount) * 1e8)) * (decimals / 10n ** 8n);
const GRAIN = { grainUnits: 10_000_000_000n, coarseGrainUnits: [] };

describe("paying a remainder of less than 1 % of the invoice", () => {
  it.each([
    ["its own address", BTC, btcKey, 10n ** 8n],
    ["a shared address", ETH, ethAddress, WEI],
  ] as const)("makes the invoice at %s PAID", async (_, pair, wallet, decimals) => {
    const shop = await marketShop(pair, wallet());
    const { id, address } = await shop.invoice(1_000);
    // 992 of 1,000 are paid, and the tolerance is 5.
    await shop.look([shop.transfer(address, (decimals * 496n) / 1_000n)]);
    const [method] = (await shop.send(`/invoices/${id}`)).json.paymentMethods;
    const remainder = shop.transfer(address, unitsOf(method.amountDue, decimals));
    await shop.look([remainder]);
    expect(await shop.invoiceState(id)).toMatchObject({ status: "PAID", received: 1_000 });
  });
});

it("a remainder without a free amount is not asked for until one is free", async () => {
  const shop = await marketShop(ETH, ethAddress());
  const { id, address } = await shop.invoice(100);
  const [own] = await testDb.select().from(methodAmounts).where(eq(methodAmounts.invoiceId, id));
  if (own === undefined) throw new Error("nothing reserved");
  // 40 of 100 arrive; all amounts for the other 60 are taken.
  const restUnits = (own.units * 60n) / 100n;
  const place = { ...ETH, address };
  const taken = candidateUnits(restUnits, GRAIN, { from: 0, to: 10_001 });
  await occupy(place, taken);
  await shop.look([shop.transfer(address, (own.units * 40n) / 100n)]);
  const shown = async () => (await shop.send(`/invoices/${id}`)).json.paymentMethods[0];
  expect(await shown()).toMatchObject({ status: "UNAVAILABLE", reason: "AMOUNTS_EXHAUSTED", amountDue: null });
  await freeAmounts(place, taken);
  const asked = await shown();
  expect(asked).toMatchObject({ status: "ACTIVE", amountDue: "0.03" });
  await shop.look([shop.transfer(address, unitsOf(asked.amountDue, WEI))]);
  expect(await shop.invoiceState(id)).toMatchObject({ status: "PAID", received: 100 });
});

it("a payment is credited even if the allocator does not answer, and the remainder gets its amount at a later read", async () => {
  const shop = await marketShop(ETH, ethAddress());
  const { id, address } = await shop.invoice(100);
  const [own] = await testDb.select().from(methodAmounts).where(eq(methodAmounts.invoiceId, id));
  const paid = shop.transfer(address, ((own?.units ?? 0n) * 40n) / 100n);
  const allocateAmounts = () => Promise.reject(new TimeLimitError("no answer"));
  const network = networkNamed(ETH.network);
  if (network === undefined) throw new Error("no ETH");
  const findings = { network, heights: { tipHeight: 100, finalizedHeight: null }, seen: [], transfers: [paid] };
  expect((await applyTransfers({ ...shop.dependencies(), allocateAmounts }, findings)).ok).toBe(true);
  expect(await shop.invoiceState(id)).toMatchObject({ received: 40 });
  expect((await shop.send(`/invoices/${id}`)).json.paymentMethods[0]).toMatchObject({
    status: "ACTIVE",
    amountDue: "0.03",
  });
});

it("an UNDERPAID invoice that accepts late payments asks for its remainder at the current price", async () => {
  const shop = await marketShop(BTC, btcKey());
  await shop.send("/settings", { method: "PATCH", body: { latePaymentPolicy: "ACCEPT" } });
  const { id, address } = await shop.invoice(100);
  await shop.look([shop.transfer(address, 2_500_000n)]);
  await ageQuotes(testDb, id, 3 * HOUR_MS);
  await testDb
    .update(invoices)
    .set({ expiresAtMs: Date.now() - 1 })
    .where(eq(invoices.id, id));
  await testDb.update(paymentMethods).set({ status: "ACTIVE" }).where(eq(paymentMethods.invoiceId, id));
  expect((await shop.send(`/invoices/${id}`)).json.status).toBe("UNDERPAID");
  shop.rate.usd = "1000";
  await ageQuotes(testDb, id, 3 * HOUR_MS);
  const [method] = (await shop.send(`/invoices/${id}`)).json.paymentMethods;
  expect(method).toMatchObject({ status: "ACTIVE", amountDue: "0.05", rate: "1000" });
  await shop.look([shop.transfer(address, unitsOf(method.amountDue, 10n ** 8n))]);
  expect(await shop.invoiceState(id)).toMatchObject({ status: "PAID", received: 100 });
});
