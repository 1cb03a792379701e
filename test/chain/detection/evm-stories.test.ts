// Block trees of the reorg simulator on anvil, like bitcoin-stories.test.ts on bitcoind: forks as deep as Ethereum's may be, branches that win again,
// transactions mined in another block, forgotten, replaced, failed, or with other effects in another block. There are two merchants, and payments in
// tokens and in the coin.
import { afterAll, beforeAll, expect, it } from "vitest";
import { shopApi } from "../../../scripts/demo-story/shop.ts";
import { assetOn } from "../../../src/chains/registry/networks.ts";
import { ADDRESSES, SHARED_ADDRESS } from "../../simulation/detection/reorg-shop.ts";
import { type Anvil, startAnvil } from "../../support/anvil.ts";
import { dataOf, install, installToken, MULTICALL } from "../../support/contracts.ts";
import { network } from "../../support/named-network.ts";
import { type Extra, seedExtra } from "../../support/seed-extra.ts";
import {
  ANVIL_ARGS,
  EvmStory,
  hasCoins,
  hasOtherEffects,
  isPlainWithCoins,
  type Merchant,
  PAYER,
} from "./evm-story.ts";
import { POLL_SECONDS, type Shop, startShop } from "./harness.ts";
import { planOn, playStory, storiesOf } from "./story.ts";

const ETH = network("ETH");
const TOKENS = ["USDT", "USDC"];
const OF_TOKENS = storiesOf(process.env.DEEP ? 200 : 9, (seed) => {
  const plan = planOn("ETH", seed, ["effects"]);
  return plan !== undefined && hasOtherEffects(plan) && isPlainWithCoins(plan) ? plan : undefined;
});
// There are few trees with payments in the coin, because a plain transaction pays one recipient in the coin, and has the same effect in every block.
const OF_COINS = storiesOf(3, (seed) => {
  const plan = planOn("ETH", seed);
  return plan !== undefined && hasCoins(plan) && isPlainWithCoins(plan) ? plan : undefined;
});

let chain: Anvil;
let shop: Shop;
let merchants: readonly Merchant[];

beforeAll(async () => {
  chain = await startAnvil({ chainId: 1, args: ANVIL_ARGS });
  await install(chain, "Multicall", MULTICALL);
  await install(chain, "ByMiner", PAYER);
  for (const code of TOKENS) await bringToken(code);
  let extra: Extra | undefined;
  shop = await startShop({
    sources: { ETH: [{ kind: "evm-rpc", url: chain.url }] },
    pollSeconds: POLL_SECONDS,
    seedMore: async (home, { merchantId }) => {
      extra = await seedExtra(home, merchantId, Date.now());
    },
  });
  const other = shopApi(shop.baseUrl, extra?.other.merchantId ?? "", extra?.other.secretKey ?? "");
  merchants = [
    await withWallets(shop, { USDT: SHARED_ADDRESS, ETH: SHARED_ADDRESS, USDC: ADDRESSES.ofSecondCoin }),
    await withWallets(other, { USDT: ADDRESSES.ofOther }),
  ];
});
afterAll(async () => {
  await shop?.stop();
  await chain?.stop();
});

/** Installs a token that every account holds and allows the contract to spend. */
async function bringToken(code: string): Promise<void> {
  const { contract } = await installToken(
    chain,
    assetOn(ETH, code)?.contract ?? "",
    code === "USDT" ? "TetherLike" : "PlainToken",
  );
  const data = dataOf("approve", PAYER, 10n ** 30n);
  await chain.together(chain.accounts.map((from) => ({ from, to: contract, data })));
}

async function withWallets(
  of: Merchant["shop"] & Pick<Shop, "registerWallet">,
  addresses: Readonly<Record<string, string>>,
): Promise<Merchant> {
  const walletIds = new Map<string, string>();
  for (const [cryptocurrency, address] of Object.entries(addresses)) {
    const wallet = { walletType: "DIRECT_WALLET", cryptocurrency, network: ETH.name, address };
    walletIds.set(cryptocurrency, (await of.registerWallet(wallet)).id);
  }
  return { shop: of, walletIds };
}

it("the block trees include some that undo many blocks", () => {
  expect(Math.max(...OF_TOKENS.map(({ plan }) => plan.tree.deepestFork))).toBeGreaterThan(10);
});

it.each([
  ...OF_TOKENS.map((story) => ({ ...story, of: "tokens" })),
  ...OF_COINS.map((story) => ({ ...story, of: "the coin" })),
])("the shop ends in the state of the final chain (tree $seed, paid in $of)", async (story) => {
  await playStory(new EvmStory({ shop, chain, network: ETH, merchants }), story);
});
