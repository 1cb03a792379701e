// The approximate cost of a method before it is chosen: the current quote, rounded up.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NETWORKS } from "../../../../src/chains/registry/networks.ts";
import { pairKey } from "../../../../src/chains/registry/pair.ts";
import type { Estimates } from "../../../../src/checkout/pay/estimates.ts";
import { readEstimates } from "../../../../src/checkout/pay/read-estimates.ts";
import { usualFee } from "../../../../src/checkout/pay/usual-fee.ts";
import { quoteMethod } from "../../../../src/commerce/payment-methods/payment-method.ts";
import { parseUnits } from "../../../../src/lib/money.ts";
import type { RateTable } from "../../../../src/rates/quote.ts";
import { BTC_BTC, type Given, NOW, USDT_ETH, USDT_TRX, viewFacts, walletOf } from "../../../support/checkout-facts.ts";
import { RUNS } from "../../../support/property-runs.ts";

const ETH_ETH = { cryptocurrency: "ETH", network: "ETH" };
const PAIRS = [BTC_BTC, USDT_ETH, USDT_TRX, ETH_ETH];

const rateOf = (usd: string) => ({ usd, atMs: NOW, sources: ["a", "b"] });
const TABLE: RateTable = { assets: { BTC: rateOf("91234.56"), USDT: rateOf("1"), ETH: rateOf("3187.1") }, fiat: {} };

function checkoutOf(given: Given) {
  const { file, methods } = viewFacts(given);
  return { file, methods, wallets: PAIRS.map((pair) => walletOf({ ...pair, address: "a" })) };
}

async function read(given: Given, table: RateTable = TABLE): Promise<{ estimates: Estimates; asked: number }> {
  let asked = 0;
  const deps = {
    nowMs: NOW,
    table: async () => {
      asked++;
      return table;
    },
  };
  return { estimates: await readEstimates(deps, checkoutOf(given)), asked };
}

describe("the estimate of a method", () => {
  it("is the current quote, rounded up to six digits, for each method that can be chosen", async () => {
    const { estimates, asked } = await read({ active: [], available: PAIRS });
    // The price is 10 USD.
    expect(Object.fromEntries(estimates)).toEqual({
      BTC_BTC: "0.00010961",
      USDT_ETH: "10",
      USDT_TRX: "10",
      ETH_ETH: "0.00313765",
    });
    expect(asked).toBe(1);
  });

  it("is missing for a method that is already chosen or has no rate", async () => {
    const { estimates } = await read({ active: [USDT_ETH], available: [BTC_BTC, ETH_ETH] }, { ...TABLE, assets: {} });
    expect([...estimates]).toEqual([]);
    const some = await read({ active: [USDT_ETH], available: [BTC_BTC] });
    expect([...some.estimates.keys()]).toEqual(["BTC_BTC"]);
  });

  it.each<[string, Given]>([
    ["nothing can be chosen", { active: [USDT_ETH] }],
    ["any amount may be sent", { active: [], available: PAIRS, invoice: { amountMicros: 0n } }],
    ["something was received", { active: [], available: PAIRS, invoice: { receivedMicros: 1n } }],
  ])("is not requested when %s", async (_, given) => {
    const { estimates, asked } = await read(given);
    expect([estimates.size, asked]).toEqual([0, 0]);
  });

  it("is never less than the quote, and at most a hundred-thousandth more", async () => {
    const micros = fc.bigInt(10_000n, 10n ** 12n);
    const usd = fc
      .integer({ min: 1, max: 10 ** 9 })
      .map((n) => `${Math.floor(n / 1_000)}.${String(n % 1_000).padStart(3, "0")}1`);
    await fc.assert(
      fc.asyncProperty(micros, usd, fc.constantFrom(...PAIRS), async (amountMicros, price, pair) => {
        const table = { assets: { [pair.cryptocurrency]: rateOf(price) }, fiat: {} };
        const { estimates } = await read({ active: [], available: [pair], invoice: { amountMicros } }, table);
        const network = NETWORKS.find(({ name }) => name === pair.network);
        const decimals = network?.assets.find(({ code }) => code === pair.cryptocurrency)?.decimals ?? -1;
        const invoice = { amountMicros, currency: "USD" };
        const wallet = walletOf({ ...pair, address: "a" });
        const quote = quoteMethod({ invoice, wallet, table, nowMs: NOW });
        const units = quote.ok ? (quote.value.amountUnits ?? 0n) : 0n;
        const about = parseUnits(estimates.get(pairKey(pair)) ?? "", decimals);
        if (!about.ok) throw new Error("no estimate");
        expect(about.value >= units && (about.value - units) * 100_000n <= about.value).toBe(true);
      }),
      { numRuns: RUNS / 4 },
    );
  });
});

describe("the usual fee", () => {
  it("is given for each main network with a known fee, and for no test network", () => {
    const said = NETWORKS.map((network) => {
      const fees = network.assets.map(({ code }) => usualFee({ cryptocurrency: code, network: network.name }));
      return [network.name, [...new Set(fees)].join()] as const;
    });
    expect(Object.fromEntries(said.filter(([, fees]) => fees !== ""))).toEqual({
      BTC: "VARIES",
      LTC: "LOW",
      ETH: "VARIES",
      POL: "LOW",
      BNB: "LOW",
      BASE: "LOW",
      ARBITRUM: "LOW",
      OPTIMISM: "LOW",
      TRX: "LOW,MEDIUM",
    });
    expect(usualFee(USDT_TRX)).toBe("MEDIUM");
  });
});
