import { expect, it } from "vitest";
import { CAMPAIGN_LIMIT_MS, FEWEST_HITS, printReport, runCampaign, schedulesOf } from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { activateMethodScenario, createInvoiceScenario, deleteWalletScenario } from "./invoices-scenario.ts";
import { stockShop } from "./shop.ts";
import { buyProductScenario, stockStorefront } from "./storefront-scenario.ts";

const count = schedulesOf(800);
const totalHits = new Map<string, number>();

it.each([
  [
    "invoices created under one idempotency key are a single invoice, with its own address and amount",
    createInvoiceScenario,
  ],
  [
    "a payment method picked concurrently is activated once, and all callers get the same answer",
    activateMethodScenario,
  ],
  ["no invoice still awaits payment to a deleted wallet", deleteWalletScenario],
  [
    "a product's form creates one invoice per rendering, at a price that the product had",
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

it("every fault is injected often enough at every point of the real operations", () => {
  expect([...totalHits].filter(([, n]) => n < FEWEST_HITS)).toEqual([]);
  expect(totalHits.size).toBeGreaterThan(40);
});
