// Block trees of the reorg simulator on a real node. The simulator runs thousands of trees with its own sources, and these show that a node behaves
// the same: forks of up to five blocks, branches that win again, transactions mined in another block, forgotten or replaced by a rival, outputs of
// all sizes.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type CoreNode, startCoreNode } from "../../support/core-node.ts";
import { describeOn } from "../../support/describe-on.ts";
import { BitcoinStory } from "./bitcoin-story.ts";
import { accountOn, POLL_SECONDS, type Shop, startShop } from "./harness.ts";
import { planOn, playStory, storiesOf } from "./story.ts";

const STORIES = storiesOf(process.env.DEEP ? 200 : 10, (seed) => planOn("BTC", seed));

let node: CoreNode;
let shop: Shop;
let walletId: string;

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

  it("is tested with block trees that undo several blocks", () => {
    expect(Math.max(...STORIES.map(({ plan }) => plan.tree.deepestFork))).toBeGreaterThan(2);
  });

  it.each(STORIES)("leaves the shop in the state of the final chain (tree $seed)", async (story) => {
    await playStory(new BitcoinStory({ shop, node, walletId }), story);
  });
});
