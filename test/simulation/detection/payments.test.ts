import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { newPayment } from "../../../src/commerce/payments/chain-observation.ts";
import { putPayment } from "../../../src/commerce/payments/store.ts";
import { applyTransfers } from "../../../src/detection/matching/apply-transfers.ts";
import { ok } from "../../../src/lib/result.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import {
  CAMPAIGN_LIMIT_MS,
  FEWEST_HITS,
  printReport,
  printWithTest,
  runCampaign,
  type Scenario,
  schedulesOf,
} from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { type Apply, paymentsScenario } from "./payments-scenario.ts";
import { stockTill } from "./payments-till.ts";

const count = schedulesOf(1_200, 50);
const CAUGHT_WITHIN = 300;

it(
  `each transfer is credited once, none is lost, and the events of each invoice are numbered: ${count} schedules`,
  async () => {
    const lab = new Lab();
    await stockTill(lab);
    const scenario = paymentsScenario(lab, "payments", applyTransfers);
    const report = await runCampaign(scenario, { count, keepsSeeds: true });
    printReport(scenario, report);
    expect(report.problems).toEqual([]);
    // Few schedules need an amount for the rest of an invoice. The campaigns over invoices and amounts exercise such calls.
    const fewestOf = (name: string) => (name.startsWith("allocate amounts") ? 1 : FEWEST_HITS);
    expect([...report.hits].filter(([name, n]) => n < fewestOf(name))).toEqual([]);
  },
  CAMPAIGN_LIMIT_MS,
);

/** Broken: always reports success. */
const hopeful: Apply = async (deps, look) => {
  await applyTransfers(deps, look);
  return ok(undefined);
};

/** Broken: checks whether a transfer is known and then credits it, with nothing to stop two readers from both doing so. */
const checkThenAct: Apply = async (deps, { network, heights, transfers }) => {
  for (const transfer of transfers) {
    const [known] = await deps.db.select().from(payments).where(eq(payments.txHash, transfer.txHash));
    const [invoice] = await deps.db
      .select()
      .from(invoices)
      .where(sql`${invoices.amountMicros} = ${Number(transfer.amountUnits)}`);
    if (known !== undefined || invoice === undefined) continue;
    const { id: invoiceId, merchantId } = invoice;
    const payment = newPayment({
      id: `pay_${deps.newOperationId()}`,
      merchantId,
      transfer,
      requiredConfirmations: 1,
      usdMicros: null,
      placement: { kind: "CREDITED", invoiceId, matchedBy: "EXACT_AMOUNT", marketMicros: null },
      evidence: { raw: "{}", spends: [], candidates: [] },
      context: { network, heights, nowMs: deps.nowMs },
    });
    await batch(deps.db, [putPayment(deps.db, payment)]);
  }
  return ok(undefined);
};

async function expectCaught(scenario: Scenario, problem: RegExp): Promise<void> {
  const report = await runCampaign(scenario, { count: CAUGHT_WITHIN, stopAt: problem });
  const caught = report.problems.at(-1);
  printWithTest(`${scenario.name}: caught at seed ${caught?.seed}: ${caught?.problem}`);
  expect(caught?.problem).toMatch(problem);
}

describe(`within ${CAUGHT_WITHIN} schedules the simulator catches`, () => {
  it("an observation that is acknowledged although it failed", async () => {
    const lab = new Lab();
    await stockTill(lab);
    await expectCaught(
      paymentsScenario(lab, "broken: acknowledged in any case", hopeful),
      /was lost|is in|is DROPPED|is REORGED/,
    );
  });

  it("a check followed by a write, without a unique index to refuse the second", async () => {
    const lab = new Lab();
    await stockTill(lab);
    lab.rows("drop index payments_credit");
    lab.rows("drop index payments_identity");
    await expectCaught(paymentsScenario(lab, "broken: check then act", checkThenAct), /doubled/);
  });
});
