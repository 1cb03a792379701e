// Interface 1: a transfer is matched by its amount if invoices share an address, and by its address if each has its own. So two invoices that could
// be confused must never ask for the same amount or address (decisions 3 "Index", 4 "Amount for a direct wallet").
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import {
  atOnce,
  createInvoice,
  expectOk,
  expectRefusal,
  registerWallet,
  removeWallets,
  shop,
  stranger,
  unique,
} from "./client.ts";
import { compare, exact, times, units } from "./exact.ts";
import { directWallet, evmAddress, extendedKey, xpubWallet } from "./key-material.ts";
import type { Invoice, PaymentMethod, Wallet } from "./shapes.ts";

beforeEach(async () => {
  await removeWallets(shop);
  await removeWallets(stranger);
});
afterAll(async () => {
  await removeWallets(shop);
  await removeWallets(stranger);
});

const first = (invoice: Invoice): PaymentMethod => {
  const [method] = invoice.paymentMethods;
  if (method === undefined) throw new Error(`no payment method on ${invoice.id}`);
  return method;
};
/** At most half a percent below the plain amount and never above it. */
const isNear = (amount: string | null, plain: string | null) =>
  compare(exact(amount), exact(plain)) <= 0 && compare(exact(amount), times(exact(plain), exact("0.995"))) >= 0;

describe("on a shared address", () => {
  test("the first invoice at a price asks for the plain amount, later ones for distinct amounts slightly below it", async () => {
    const { address } = await registerWallet(shop, directWallet("USDT", "ETH", evmAddress()));
    const methods: PaymentMethod[] = [];
    for (let count = 0; count < 8; count += 1) methods.push(first(await createInvoice(shop, { rawAmount: 100 })));
    const [plain = "", ...salted] = methods.map((method) => method.amount ?? "");
    expect(new Set([plain, ...salted]).size).toBe(8);
    for (const amount of salted) {
      expect(isNear(amount, plain), `${amount} below ${plain}`).toBe(true);
      expect(units(amount, 6)).toBeGreaterThan(0n);
    }
    for (const method of methods) expect(method).toMatchObject({ status: "ACTIVE", address });
  });

  test("fifty invoices created at once for the same price get fifty distinct amounts, none above the plain one", async () => {
    await registerWallet(shop, directWallet("USDC", "POL", evmAddress()));
    const plain = first(await createInvoice(shop, { rawAmount: 200 })).amount;
    const invoices = await atOnce(50, () => createInvoice(shop, { rawAmount: 200 }));
    const amounts = invoices.map((invoice) => first(invoice).amount);
    expect(new Set([plain, ...amounts]).size).toBe(51);
    for (const amount of amounts) expect(isNear(amount, plain), `${amount} below ${plain}`).toBe(true);
  });

  test("two merchants who share an address never ask for the same amount", async () => {
    const body = directWallet("USDT", "ETH", evmAddress());
    await registerWallet(shop, body);
    await registerWallet(stranger, body);
    const invoices = await atOnce(16, (index) => createInvoice(index % 2 === 0 ? shop : stranger, { rawAmount: 50 }));
    expect(new Set(invoices.map((invoice) => first(invoice).amount)).size).toBe(16);
  });

  test("each of two merchants that have not proven control of an address gets at most about half of the amounts at a price", async () => {
    const body = directWallet("WBTC", "ETH", evmAddress());
    await registerWallet(shop, body);
    await registerWallet(stranger, body);
    // 2,000 units of 10^-8: half a percent is ten salts, so there are eleven amounts.
    const rate = Number(first(await createInvoice(shop)).rate);
    const fields = { rawAmount: Number((rate * 0.00001999).toFixed(6)) };
    const mine: PaymentMethod[] = [];
    for (let count = 0; count < 11; count += 1) mine.push(first(await createInvoice(shop, fields)));
    const active = mine.filter((method) => method.status === "ACTIVE");
    expect(active.length).toBeGreaterThan(0);
    expect(active.length).toBeLessThanOrEqual(6);
    const theirs = [first(await createInvoice(stranger, fields)), first(await createInvoice(stranger, fields))];
    expect(theirs.map((method) => method.status)).toEqual(["ACTIVE", "ACTIVE"]);
    const amounts = [...active, ...theirs].map((method) => method.amount);
    expect(new Set(amounts).size).toBe(amounts.length);
  });

  test("an amount stays reserved after its invoice is cancelled, because late payments are still watched for", async () => {
    await registerWallet(shop, directWallet("USDT", "ETH", evmAddress()));
    const cancelled = await createInvoice(shop, { rawAmount: 30 });
    expectOk(await shop.post(`/invoices/${cancelled.id}/cancel`), 200);
    expect(first(await createInvoice(shop, { rawAmount: 30 })).amount).not.toBe(first(cancelled).amount);
  });

  test("once a price has no distinct amount left, the next invoice's method is UNAVAILABLE, and picking it fails with AMOUNTS_EXHAUSTED", async () => {
    // About 150 units of 10^-8: half a percent of that is less than one unit, so there is no salt.
    const pair = { cryptocurrency: "WBTC", network: "ETH" };
    await registerWallet(shop, directWallet("WBTC", "ETH", evmAddress()));
    expect(first(await createInvoice(shop, { rawAmount: 0.1 })).status).toBe("ACTIVE");
    const second = await createInvoice(shop, { rawAmount: 0.1 });
    expect(first(second)).toMatchObject({ status: "UNAVAILABLE", reason: "AMOUNTS_EXHAUSTED", address: null });
    const answer = await shop.post(`/invoices/${second.id}/payment-methods`, pair);
    expectRefusal(answer, 409, "AMOUNTS_EXHAUSTED");
  });
});

describe("with an extended key", () => {
  test("200 invoices created in parallel get the 200 addresses at indexes 0 to 199", async () => {
    const key = extendedKey();
    const { id } = await registerWallet(shop, xpubWallet(key));
    // Sent with idempotency keys, so that requests can be repeated on a busy machine.
    const invoices = await atOnce(200, async () => {
      const headers = { "idempotency-key": unique() };
      return expectOk(await shop.post<Invoice>("/invoices", { name: "Order", rawAmount: 10 }, headers), 201);
    });
    const expected = Array.from({ length: 200 }, (_, index) => key.address(index));
    expect(new Set(invoices.map((invoice) => first(invoice).address))).toEqual(new Set(expected));
    const wallet = expectOk(await shop.get<Wallet>(`/wallets/${id}`), 200);
    expect(wallet).toMatchObject({ lastUsedIndex: 199, nextIndex: 200, gap: 200 });
  });

  test("all invoices at the same price ask for the same plain amount", async () => {
    await registerWallet(shop, xpubWallet(extendedKey()));
    const invoices = await atOnce(5, () => createInvoice(shop));
    expect(new Set(invoices.map((invoice) => first(invoice).amount)).size).toBe(1);
  });

  test("a refused request does not use up an index", async () => {
    const key = extendedKey();
    await registerWallet(shop, xpubWallet(key));
    expectRefusal(await shop.post("/invoices", { name: "Order", rawAmount: -1 }), 400);
    const externalId = (await createInvoice(shop, { externalId: key.address(9) })).externalId;
    expectRefusal(await shop.post("/invoices", { name: "Order", rawAmount: 1, externalId }), 409);
    expect(first(await createInvoice(shop)).address).toBe(key.address(1));
  });

  test("two merchants who share a key never get the same address, and each gets at most two unpaid addresses", async () => {
    const key = extendedKey();
    await registerWallet(shop, xpubWallet(key));
    const mine = await createInvoice(shop);
    await registerWallet(stranger, xpubWallet(key));
    const theirs: PaymentMethod[] = [];
    for (let count = 0; count < 3; count += 1) theirs.push(first(await createInvoice(stranger)));
    const after = await createInvoice(shop);
    const given = [first(mine), ...theirs.slice(0, 2), first(after)].map((method) => method.address);
    expect(new Set(given)).toEqual(new Set(Array.from({ length: 4 }, (_, index) => key.address(index))));
    for (const method of [theirs[2], first(await createInvoice(shop))])
      expect(method).toMatchObject({ status: "UNAVAILABLE", reason: "LIMIT_REACHED", address: null });
  });
});
