// Decisions 4 "Payment methods": what a customer may pay with, when an address is allocated, and what amount the customer is asked for.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { atOnce, createInvoice, expectOk, expectRefusal, registerWallet, removeWallets, shop } from "./client.ts";
import { compare, exact, minus, times, units } from "./exact.ts";
import { directWallet, evmAddress, extendedKey, freshDirectWallet, tronAddress, xpubWallet } from "./key-material.ts";
import { expectInvoiceShape, expectMethodShape, type Invoice, type PaymentMethod } from "./shapes.ts";

beforeEach(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

const BTC = { cryptocurrency: "BTC", network: "BTC" };
const USDT = { cryptocurrency: "USDT", network: "ETH" };

async function methodsOf(invoice: Invoice): Promise<readonly PaymentMethod[]> {
  const answer = await shop.get<PaymentMethod[] | { data: PaymentMethod[] }>(`/invoices/${invoice.id}/payment-methods`);
  const body = expectOk(answer, 200);
  return "data" in body ? body.data : body;
}

async function pick(invoice: Invoice, pair: { cryptocurrency: string; network: string }): Promise<PaymentMethod> {
  const answer = await shop.post<PaymentMethod>(`/invoices/${invoice.id}/payment-methods`, pair);
  expect([200, 201], answer.text).toContain(answer.status);
  return answer.body;
}

describe("at creation", () => {
  test("the merchant's only wallet becomes the active payment method, with its address and amount", async () => {
    const key = extendedKey();
    await registerWallet(shop, { ...xpubWallet(key), requiredConfirmations: 2 });
    const invoice = await createInvoice(shop);
    expectInvoiceShape(invoice);
    expect(invoice.warnings).toEqual([]);
    expect(invoice.paymentMethods).toHaveLength(1);
    const [method] = invoice.paymentMethods;
    expect(method).toMatchObject({ ...BTC, status: "ACTIVE", reason: null, requiredConfirmations: 2 });
    expect(method).toMatchObject({ address: key.address(0), amountDue: method?.amount });
  });

  test("nothing is activated if there are several wallets and the request lists no pair", async () => {
    await registerWallet(shop, xpubWallet(extendedKey()));
    await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    const invoice = await createInvoice(shop);
    expect(invoice).toMatchObject({ paymentMethods: [], warnings: [] });
  });

  test("every pair that the request lists is activated, and no other", async () => {
    const key = extendedKey();
    await registerWallet(shop, xpubWallet(key));
    const direct = await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    await registerWallet(shop, freshDirectWallet("TRX", "TRX"));
    const both = await createInvoice(shop, { paymentMethods: [BTC, USDT] });
    expectInvoiceShape(both);
    expect(both.paymentMethods.map((each) => [each.cryptocurrency, each.status, each.address])).toEqual(
      expect.arrayContaining([
        ["BTC", "ACTIVE", key.address(0)],
        ["USDT", "ACTIVE", direct.address],
      ]),
    );
    expect(both.paymentMethods).toHaveLength(2);
    expect((await createInvoice(shop, { paymentMethods: [USDT] })).paymentMethods).toHaveLength(1);
  });

  test("a network may be given as an alias, and is returned under its own code", async () => {
    await registerWallet(shop, freshDirectWallet("USDT", "TRX"));
    const invoice = await createInvoice(shop, { paymentMethods: [{ cryptocurrency: "USDT", network: "tron" }] });
    expect(invoice.paymentMethods[0]).toMatchObject({ network: "TRX", status: "ACTIVE" });
  });

  test("a pair without an enabled wallet is refused", async () => {
    await registerWallet(shop, { ...freshDirectWallet("TRX", "TRX"), isEnabled: false });
    for (const pair of [BTC, { cryptocurrency: "TRX", network: "TRX" }]) {
      const answer = await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [pair] });
      expectRefusal(answer, 422, "NO_ENABLED_WALLET");
    }
  });

  test("a pair listed twice is refused, even in two spellings", async () => {
    await registerWallet(shop, freshDirectWallet("TRX", "TRX"));
    for (const network of ["TRX", "TRON"]) {
      const paymentMethods = [
        { cryptocurrency: "TRX", network: "TRX" },
        { cryptocurrency: "TRX", network },
      ];
      expectRefusal(await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods }), 400);
    }
  });

  test("an unsupported pair, or anything but a list of pairs, is refused", async () => {
    const wrong = [[{ cryptocurrency: "DOGE", network: "DOGE" }], [{ cryptocurrency: "BTC" }], "BTC", [["BTC", "BTC"]]];
    for (const paymentMethods of wrong) {
      expectRefusal(await shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods }), 400);
    }
  });
});

describe("on demand", () => {
  test("the list shows the available pairs; picking one activates it, and picking it again returns the same method", async () => {
    const key = extendedKey();
    await registerWallet(shop, xpubWallet(key));
    await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    const invoice = await createInvoice(shop);
    const offered = await methodsOf(invoice);
    offered.forEach(expectMethodShape);
    expect(offered.map((each) => [each.cryptocurrency, each.status]).sort()).toEqual([
      ["BTC", "AVAILABLE"],
      ["USDT", "AVAILABLE"],
    ]);
    const picked = await pick(invoice, BTC);
    expectMethodShape(picked);
    expect(picked).toMatchObject({ ...BTC, status: "ACTIVE", address: key.address(0) });
    expect(await pick(invoice, BTC)).toEqual(picked);
    const read = expectOk(await shop.get<Invoice>(`/invoices/${invoice.id}`), 200);
    expect(read.paymentMethods).toEqual([picked]);
    expect((await methodsOf(invoice)).find((each) => each.cryptocurrency === "BTC")).toEqual(picked);
  });

  test("twenty simultaneous picks give one address and use one index", async () => {
    const key = extendedKey();
    await registerWallet(shop, xpubWallet(key));
    await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    const invoice = await createInvoice(shop);
    const picked = await atOnce(20, () => pick(invoice, BTC));
    expect(new Set(picked.map((each) => JSON.stringify(each))).size).toBe(1);
    expect((await pick(await createInvoice(shop), BTC)).address).toBe(key.address(1));
  });

  test("picking a method that was activated at creation changes nothing", async () => {
    await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    const invoice = await createInvoice(shop);
    expect(await pick(invoice, USDT)).toEqual(invoice.paymentMethods[0]);
  });

  test("a pair without an enabled wallet cannot be picked", async () => {
    const invoice = await createInvoice(shop);
    const answer = await shop.post(`/invoices/${invoice.id}/payment-methods`, BTC);
    expectRefusal(answer, 422, "NO_ENABLED_WALLET");
  });

  test("a wallet registered after the invoice can be picked for it", async () => {
    const invoice = await createInvoice(shop);
    const key = extendedKey();
    await registerWallet(shop, xpubWallet(key));
    expect((await pick(invoice, BTC)).address).toBe(key.address(0));
  });

  test("nothing can be picked on a cancelled invoice", async () => {
    await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    await registerWallet(shop, xpubWallet(extendedKey()));
    const invoice = await createInvoice(shop);
    expectOk(await shop.post(`/invoices/${invoice.id}/cancel`), 200);
    const answer = await shop.post(`/invoices/${invoice.id}/payment-methods`, BTC);
    expectRefusal(answer, 422, "INVOICE_NOT_PAYABLE");
  });

  test("a pick is refused without a complete pair or with extra fields, and is a 404 for an unknown invoice", async () => {
    const invoice = await createInvoice(shop);
    for (const body of [{}, { cryptocurrency: "BTC" }, { ...BTC, amount: "1" }, []]) {
      expectRefusal(await shop.post(`/invoices/${invoice.id}/payment-methods`, body), 400);
    }
    const nowhere = "/invoices/inv_01ARZ3NDEKTSV4RRFFQ69G5FAV/payment-methods";
    expectRefusal(await shop.post(nowhere, BTC), 404, "INVOICE_NOT_FOUND");
    expectRefusal(await shop.get(nowhere), 404, "INVOICE_NOT_FOUND");
  });
});

describe("the amount", () => {
  /** Each pair, with the number of decimal places of its grain, which is the smallest step of its amounts (chains.md 4). */
  const GRAINS = [
    ["BTC", "BTC", 8],
    ["LTC", "LTC", 7],
    ["ETH", "ETH", 8],
    ["BNB", "BNB", 8],
    ["POL", "POL", 6],
    ["CRO", "CRO", 6],
    ["TRX", "TRX", 6],
    ["USDT", "ETH", 6],
    ["USDT", "BNB", 6],
    ["USDC", "POL", 6],
    ["WBTC", "ETH", 8],
  ] as const;

  test.each(GRAINS)("in %s on %s is the price at the quoted rate, rounded up to its smallest step", async (...pair) => {
    const [cryptocurrency, network, digits] = pair;
    await registerWallet(shop, freshDirectWallet(cryptocurrency, network));
    const invoice = await createInvoice(shop, { rawAmount: 25.37 });
    const [method] = invoice.paymentMethods;
    expect(method?.status).toBe("ACTIVE");
    const grain = exact(`0.${"0".repeat(digits - 1)}1`);
    const [amount, rate, price] = [exact(method?.amount), exact(method?.rate), exact(invoice.rawAmount)];
    expect(compare(times(amount, rate), price)).toBeGreaterThanOrEqual(0);
    expect(compare(times(minus(amount, grain), rate), price)).toBeLessThan(0);
    expect(units(method?.amount, digits)).toBeGreaterThan(0n);
    expect(method?.amountDue).toBe(method?.amount);
  });

  test.each(["EUR", "JPY", "ISK"])("of an invoice in %s uses the rate of that currency", async (currency) => {
    await registerWallet(shop, xpubWallet(extendedKey()));
    const invoice = await createInvoice(shop, { rawAmount: 5_000, currency });
    const [method] = invoice.paymentMethods;
    const asked = times(exact(method?.amount), exact(method?.rate));
    expect(compare(asked, exact(invoice.rawAmount))).toBeGreaterThanOrEqual(0);
    const dollars = await createInvoice(shop, { rawAmount: 5_000 });
    expect(method?.rate).not.toBe(dollars.paymentMethods[0]?.rate);
  });

  test("of an invoice priced in the coin it is paid with is the price itself", async () => {
    await registerWallet(shop, xpubWallet(extendedKey()));
    const [method] = (await createInvoice(shop, { rawAmount: 0.012345, currency: "BTC" })).paymentMethods;
    expect(compare(exact(method?.amount), exact("0.012345"))).toBe(0);
    expect(compare(exact(method?.rate), exact("1"))).toBe(0);
  });

  test("of an invoice priced in one coin and paid in another covers the price at the quoted rate", async () => {
    await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    const [method] = (await createInvoice(shop, { rawAmount: 0.5, currency: "ETH" })).paymentMethods;
    expect(method).toMatchObject({ status: "ACTIVE" });
    expect(compare(times(exact(method?.amount), exact(method?.rate)), exact("0.5"))).toBeGreaterThanOrEqual(0);
  });
});

describe("an invoice for any amount", () => {
  test("has no amount in the method or in its payment URI", async () => {
    const key = extendedKey();
    await registerWallet(shop, xpubWallet(key));
    const invoice = await createInvoice(shop, { rawAmount: 0 });
    expect(invoice).toMatchObject({ rawAmount: "0.000000", status: "AWAITING_PAYMENT" });
    const uri = `bitcoin:${key.address(0)}`;
    expect(invoice.paymentMethods[0]).toMatchObject({
      status: "ACTIVE",
      amount: null,
      amountDue: null,
      paymentUri: uri,
    });
  });

  test("cannot be paid to a shared address; the method, the list and a pick all give the reason", async () => {
    await registerWallet(shop, freshDirectWallet("USDT", "ETH"));
    const reason = "ANY_AMOUNT_NEEDS_OWN_ADDRESS";
    const unavailable = [expect.objectContaining({ ...USDT, status: "UNAVAILABLE", reason, address: null })];
    const named = await createInvoice(shop, { rawAmount: 0, paymentMethods: [USDT] });
    expectInvoiceShape(named);
    expect(named.paymentMethods).toEqual(unavailable);
    const unnamed = await createInvoice(shop, { rawAmount: 0 });
    expect(unnamed.paymentMethods.map((method) => method.status)).not.toContain("ACTIVE");
    for (const invoice of [named, unnamed]) {
      expect(await methodsOf(invoice)).toEqual(unavailable);
      const answer = await shop.post(`/invoices/${invoice.id}/payment-methods`, USDT);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expectRefusal(answer, answer.status, reason);
    }
  });
});

describe("the payment URI", () => {
  test.each([
    ["BTC", "bitcoin"],
    ["LTC", "litecoin"],
  ] as const)("for %s follows BIP21, with the address and the amount in whole coins", async (coin, scheme) => {
    const key = extendedKey({ network: coin });
    await registerWallet(shop, xpubWallet(key, coin));
    const [method] = (await createInvoice(shop)).paymentMethods;
    expect(method?.paymentUri).toBe(`${scheme}:${key.address(0)}?amount=${method?.amount}`);
  });

  test.each([
    ["ETH", 1],
    ["POL", 137],
    ["BNB", 56],
    ["CRO", 25],
    ["ETH_SEPOLIA", 11_155_111],
    ["BASE", 8_453, "ETH"],
    ["ARBITRUM", 42_161, "ETH"],
    ["OPTIMISM", 10, "ETH"],
  ])("for the native coin of %s follows EIP-681, with chain id %i and the amount in wei", async (...of) => {
    const [network, chainId, coin = network.slice(0, 3)] = of;
    const wallet = await registerWallet(shop, freshDirectWallet(coin, network));
    const [method] = (await createInvoice(shop)).paymentMethods;
    const value = units(method?.amount, 18);
    expect(method?.paymentUri).toBe(`ethereum:${wallet.address}@${chainId}?value=${value}`);
  });

  test.each([
    ["ETH", 1, "0xdAC17F958D2ee523a2206206994597C13D831ec7", 6],
    ["BNB", 56, "0x55d398326f99059fF775485246999027B3197955", 18],
    ["ARBITRUM", 42_161, "0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9", 6],
  ] as const)("for USDT on %s is an EIP-681 transfer call in the token's smallest units", async (...token) => {
    const [network, chainId, contract, decimals] = token;
    const wallet = await registerWallet(shop, directWallet("USDT", network, evmAddress()));
    const [method] = (await createInvoice(shop)).paymentMethods;
    const call = `address=${wallet.address}&uint256=${units(method?.amount, decimals)}`;
    expect(method?.paymentUri).toBe(`ethereum:${contract}@${chainId}/transfer?${call}`);
  });

  test("for TRON contains the address", async () => {
    const address = tronAddress();
    await registerWallet(shop, directWallet("TRX", "TRX", address));
    const [method] = (await createInvoice(shop)).paymentMethods;
    expect(method?.paymentUri).toMatch(/^tron:/);
    expect(method?.paymentUri).toContain(address);
  });
});
