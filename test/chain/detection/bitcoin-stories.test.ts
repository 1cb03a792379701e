// Stories of the simulator of reorgs on a real node: the simulator plays thousands against sources of its own, and these show that a node behaves as
// those do. Forks of up to five blocks, branches that win again, transactions mined elsewhere, forgotten or replaced by a rival, outputs of all sizes.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type CoreNode, startCoreNode } from "../../support/core-node.ts";
import { describeOn } from "../../support/describe-on.ts";
import { BitcoinStory, bitcoinPlan, type Ending, isEventful } from "./bitcoin-story.ts";
import {
  accountOn,
  type Invoice,
  mineEmpty,
  POLL_SECONDS,
  type Shop,
  startShop,
  unitsOf,
  untilInvoice,
  untilRead,
} from "./harness.ts";

const STORIES = process.env.DEEP ? 200 : 10;
const SEEDS = Array.from({ length: STORIES * 20 }, (_, seed) => seed)
  .filter((seed) => {
    const plan = bitcoinPlan(seed);
    return plan !== undefined && isEventful(plan);
  })
  .slice(0, STORIES);

let node: CoreNode;
let shop: Shop;
let walletId: string;

const confirmedIn = ({ payments }: Invoice) =>
  payments
    .filter(({ status }) => status === "CONFIRMED")
    .map(({ txHash, outputIndex }) => `${txHash}:${outputIndex}`)
    .toSorted();

/** What differs from the ending; its status is compared where no payment waits for a block. */
function differenceFrom({ confirmed, confirmedMicros, status }: Ending, invoice: Invoice): string {
  const waits = invoice.payments.some((payment) => payment.status === "DETECTED");
  const [is, should] = [
    { payments: confirmedIn(invoice), micros: unitsOf(invoice.amountConfirmed, 6) },
    { payments: confirmed, micros: confirmedMicros },
  ].map(({ payments, micros }) => `${payments.join(" ")} worth ${micros}`);
  if (is !== should) return `${is} instead of ${should}`;
  return waits || invoice.status === status ? "" : `${invoice.status} instead of ${status}`;
}

describeOn("bitcoin", () => {
  beforeAll(async () => {
    node = await startCoreNode("bitcoin", { args: ["-rpcthreads=1"] });
    shop = await startShop({
      sources: { BTC_REGTEST: [{ kind: "core-rpc", url: node.url }] },
      pollSeconds: POLL_SECONDS,
    });
    walletId = (await shop.registerWallet(accountOn(node))).id;
  });
  afterAll(async () => {
    await shop?.stop();
    await node?.stop();
  });

  it("has stories of which some undo several blocks", () => {
    expect(SEEDS).toHaveLength(STORIES);
    expect(Math.max(...SEEDS.map((seed) => bitcoinPlan(seed)?.tree.deepestFork ?? 0))).toBeGreaterThan(2);
  });

  it.each(SEEDS)("ends as its last chain says (story %i)", async (seed) => {
    const plan = bitcoinPlan(seed);
    if (plan === undefined) throw new Error(`${seed} is no story on Bitcoin`);
    const endings = await new BitcoinStory({ shop, node, plan, seed }).play(walletId);
    for (const ending of endings)
      await untilInvoice(shop, ending.id, (invoice) => differenceFrom(ending, invoice) === "");
    await mineEmpty(node);
    await untilRead(shop, node);
    for (const ending of endings) expect(differenceFrom(ending, await shop.invoice(ending.id)), ending.id).toBe("");
  });
});
