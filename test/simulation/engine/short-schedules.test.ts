// A few schedules of each simulator, for `npm test`, to check that each operation still runs under faults. The full campaigns check coverage and the
// broken variants.
import { describe, expect, it } from "vitest";
import { applyTransfers } from "../../../src/detection/matching/apply-transfers.ts";
import { deliverTo } from "../../../src/notifications/deliveries/deliver-webhooks.ts";
import { runOnce } from "../../../src/platform/idempotency/run-once.ts";
import { seatTeam } from "../accounts/team.ts";
import { acceptScenario, transferScenario } from "../accounts/teams-scenario.ts";
import { amountsScenario } from "../commerce/amounts-scenario.ts";
import { activateMethodScenario, createInvoiceScenario, deleteWalletScenario } from "../commerce/invoices-scenario.ts";
import { stockShop } from "../commerce/shop.ts";
import { buyProductScenario, stockStorefront } from "../commerce/storefront-scenario.ts";
import { AsOfTill } from "../detection/as-of-adapter.ts";
import { expectedOf } from "../detection/as-of-oracle.ts";
import { problemOf } from "../detection/as-of-problem.ts";
import { historyOf } from "../detection/as-of-scenario.ts";
import { scheduleOf } from "../detection/as-of-schedule.ts";
import { ETHER_ORDERS } from "../detection/growth-review.ts";
import { growthScenario } from "../detection/growth-scenario.ts";
import { compareHostile } from "../detection/hostile-addresses.ts";
import { paymentsScenario } from "../detection/payments-scenario.ts";
import { stockTill } from "../detection/payments-till.ts";
import { compareRefused } from "../detection/refused-elsewhere.ts";
import { ReorgShop } from "../detection/reorg-shop.ts";
import { watchTree } from "../detection/reorgs.ts";
import { awaited, watcherScenario } from "../detection/watcher-scenario.ts";
import { deliverScenario } from "../notifications/deliver-scenario.ts";
import { stockHooks } from "../notifications/webhook-stock.ts";
import { groupsScenario } from "../platform/groups-scenario.ts";
import { runOnceScenario } from "../platform/run-once-scenario.ts";
import { printReport, runCampaign, type Scenario, seedsTo } from "./campaign.ts";
import { Lab } from "./lab.ts";
import { recomputed, transfersScenario } from "./transfers-scenario.ts";

const SCHEDULES = 25;
const TREES = 40;
const HISTORIES = 20;

const SIMULATORS: readonly {
  readonly of: string;
  readonly stock?: (lab: Lab) => Promise<void>;
  readonly scenarioOf: (lab: Lab) => Scenario;
}[] = [
  { of: "sums", scenarioOf: (lab) => transfersScenario(lab, "transfers", recomputed) },
  { of: "idempotency keys", scenarioOf: (lab) => runOnceScenario(lab, "run once", runOnce) },
  { of: "request groups", scenarioOf: (lab) => groupsScenario(lab, "groups") },
  { of: "creating invoices", stock: stockShop, scenarioOf: createInvoiceScenario },
  { of: "picking a payment method", stock: stockShop, scenarioOf: activateMethodScenario },
  { of: "deleting wallets", stock: stockShop, scenarioOf: deleteWalletScenario },
  { of: "product forms", stock: stockStorefront, scenarioOf: buyProductScenario },
  { of: "reserved amounts", stock: stockShop, scenarioOf: (lab) => amountsScenario(lab, { reused: 0 }) },
  { of: "invitations", stock: seatTeam, scenarioOf: acceptScenario },
  { of: "transfers of ownership", stock: seatTeam, scenarioOf: transferScenario },
  { of: "payments", stock: stockTill, scenarioOf: (lab) => paymentsScenario(lab, "payments", applyTransfers) },
  { of: "balance growth", stock: (lab) => stockTill(lab, ETHER_ORDERS), scenarioOf: growthScenario },
  { of: "watchers", scenarioOf: (lab) => watcherScenario(lab, awaited) },
  { of: "deliveries", stock: stockHooks, scenarioOf: (lab) => deliverScenario(lab, "deliver", deliverTo) },
];

describe(`${SCHEDULES} schedules find nothing wrong with`, () => {
  it.each(SIMULATORS)("$of", async ({ stock, scenarioOf }) => {
    const lab = new Lab();
    await stock?.(lab);
    const scenario = scenarioOf(lab);
    const report = await runCampaign(scenario, { count: SCHEDULES });
    printReport(scenario, report);
    expect(report.problems).toEqual([]);
    expect(report.schedules).toBe(SCHEDULES);
  });
});

it(`in ${TREES} block trees every payment ends in the state of the final chain`, async () => {
  const shop = new ReorgShop();
  await shop.stock();
  const tally = new Map<string, number>();
  for (const seed of seedsTo(TREES)) {
    expect([seed, await watchTree(shop, seed, { name: "the real pass" }, tally)]).toEqual([seed, undefined]);
  }
  expect(tally.get("payment CONFIRMED")).toBeGreaterThan(TREES);
});

it(`in ${HISTORIES} histories the same facts give the same credits, whenever they are read`, async () => {
  const till = new AsOfTill();
  await till.stock();
  for (const seed of seedsTo(HISTORIES)) {
    const history = historyOf(seed);
    const expected = expectedOf(history);
    for (const n of [0, 1, 2]) {
      const problem = await problemOf(till, history, expected, scheduleOf(history, n));
      expect([seed, n, problem]).toEqual([seed, n, undefined]);
    }
  }
});

it("a hostile address changes nothing for other addresses, and addresses that one source refuses are read from another", async () => {
  const lab = new Lab();
  expect(await compareHostile(lab, 1, { name: "the real pass" }, new Map())).toBeUndefined();
  const tally = { refused: 0, denied: 0, mostRefused: 0, byBlocks: 0 };
  expect(await compareRefused(lab, 1, tally)).toBeUndefined();
});
