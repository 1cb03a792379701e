import { expect, it, vi } from "vitest";
import type * as DeriveAddress from "../../../src/commerce/wallets/derive-address.ts";
import { CAMPAIGN_LIMIT_MS, FEWEST_HITS, printReport, runCampaign, schedulesOf } from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { activateMethodScenario, createInvoiceScenario, deleteWalletScenario } from "./invoices-scenario.ts";
import { stockShop } from "./shop.ts";
import { buyProductScenario, stockStorefront } from "./storefront-scenario.ts";

// Derivation is a pure function of key and index: caching its results only makes schedules faster.
vi.mock("../../../src/commerce/wallets/derive-address.ts", async (original) => {
  const real = await original<typeof DeriveAddress>();
  const chains = new Map<string, DeriveAddress.ReceiveChain>();
  const addresses = new Map<DeriveAddress.ReceiveChain, Map<number, string>>();
  const remembered = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
    const value = map.get(key) ?? make();
    map.set(key, value);
    return value;
  };
  return {
    ...real,
    receiveChain: (...[key, network]: Parameters<typeof DeriveAddress.receiveChain>) =>
      remembered(chains, key.keyHash, () => real.receiveChain(key, network)),
    addressAt: (chain: DeriveAddress.ReceiveChain, index: number) =>
      remembered(
        remembered(addresses, chain, () => new Map()),
        index,
        () => real.addressAt(chain, index),
      ),
  };
});

const count = schedulesOf(800);
const totalHits = new Map<string, number>();

it.each([
  [
    "invoices created under one idempotency key are a single invoice, with its own address and amount",
    createInvoiceScenario,
  ],
  ["a method picked concurrently is activated once, and every answer is the same", activateMethodScenario],
  ["a deleted wallet has no invoice that still awaits payment to it", deleteWalletScenario],
  [
    "a product's form creates one invoice for each rendering, at a price that the product had",
    buyProductScenario,
    stockStorefront,
  ],
])(
  `%s: ${count} schedules`,
  async (_, scenarioOf, stock = stockShop) => {
    const lab = new Lab();
    await stock(lab);
    const scenario = scenarioOf(lab);
    const report = await runCampaign(scenario, { count, keepsSeeds: true });
    printReport(scenario, report);
    for (const [name, n] of report.hits) totalHits.set(name, (totalHits.get(name) ?? 0) + n);
    expect(report.problems).toEqual([]);
  },
  CAMPAIGN_LIMIT_MS,
);

it("every fault hit every point of the real operations often enough", () => {
  expect([...totalHits].filter(([, n]) => n < FEWEST_HITS)).toEqual([]);
  expect(totalHits.size).toBeGreaterThan(40);
});
