// One transaction whose effect depends on its block, on a real chain. Mined again, at the same position in its receipt it pays less, someone else, or
// another token. Only what the chain shows now may count.
import { getAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { assetOn } from "../../../src/chains/registry/networks.ts";
import { type Anvil, type Hex, startAnvil } from "../../support/anvil.ts";
import { dataOf, install, installToken, MULTICALL } from "../../support/contracts.ts";
import { network } from "../../support/named-network.ts";
import {
  type Invoice,
  POLL_SECONDS,
  type Shop,
  shownTo,
  startShop,
  unitsOf,
  untilHealth,
  untilInvoice,
  untilStatus,
} from "./harness.ts";

const ETH = network("ETH");
const USDT = { cryptocurrency: "USDT", network: "ETH" };
const CONTRACT: Hex = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
/** Addresses without known keys. */
const TILL: Hex = getAddress(`0x${"abcde5".padEnd(40, "7")}`);
const STRANGER: Hex = getAddress(`0x${"abcde6".padEnd(40, "7")}`);
/** The last digit of the miner's address selects the first or the second effect. */
const MINERS = [`0x${"e".repeat(39)}0`, `0x${"e".repeat(39)}1`] as const;

let chain: Anvil;
let shop: Shop;

beforeAll(async () => {
  chain = await startAnvil({ chainId: 1 });
  await install(chain, "Multicall", MULTICALL);
  await install(chain, "ByMiner", CONTRACT);
  await installToken(chain, contractOf("USDT"), "TetherLike");
  await installToken(chain, contractOf("DAI"));
  for (const code of ["USDT", "DAI"])
    await chain.execute({ to: contractOf(code), data: dataOf("approve", CONTRACT, 10n ** 24n) });
  await chain.mine();
  shop = await startShop({ sources: { ETH: [{ kind: "evm-rpc", url: chain.url }] }, pollSeconds: POLL_SECONDS });
  await shop.registerWallet({ walletType: "DIRECT_WALLET", ...USDT, address: TILL });
  // anvil gives the blocks of a reorg the time of the block below them. This block makes that time later than the start of the shop.
  await chain.mine();
});
afterAll(async () => {
  await shop?.stop();
  await chain?.stop();
});

function contractOf(code: string): Hex {
  return `0x${(assetOn(ETH, code)?.contract ?? "").slice(2)}`;
}

interface Effect {
  readonly token: string;
  readonly to: Hex;
  readonly units: bigint;
}

/** A call whose effect depends on the miner: the first effect for the first miner, the second for the second. */
function paying(...either: readonly Effect[]) {
  const effects = either.map(({ token, to, units }) => [{ token: contractOf(token), to, value: units }]);
  return { to: CONTRACT, data: dataOf("payByMiner", 0n, effects), gas: 300_000n };
}

const asked = (invoice: Invoice) => unitsOf(shownTo(invoice, USDT).amount, 6);
const mineBy = (miner: string) => chain.rpc("anvil_setCoinbase", miner);

const OTHER: readonly (readonly [string, (paid: Effect) => Effect])[] = [
  ["less", (paid) => ({ ...paid, units: 10_000n })],
  ["someone else", (paid) => ({ ...paid, to: STRANGER })],
  ["another token", (paid) => ({ ...paid, token: "DAI" })],
];

describe("a transaction that, mined again in another block, pays", () => {
  it.each(OTHER)("%s no longer pays an invoice, until it is mined with its old effect", async (_, otherOf) => {
    const invoice = await shop.createInvoice({ rawAmount: 100, paymentMethods: [USDT] });
    const paid = { token: "USDT", to: TILL, units: asked(invoice) };
    await mineBy(MINERS[0]);
    const first = await chain.execute(paying(paid, otherOf(paid)));
    await untilStatus(shop, invoice.id, "PAID");
    const raw = await chain.rawTransaction(first.transactionHash);

    await mineBy(MINERS[1]);
    await chain.reorg(1, [raw]);
    const again = await chain.receipt(first.transactionHash);
    expect([again.logs.length, again.logs[0]?.logIndex]).toEqual([1, first.logs[0]?.logIndex]);
    expect(again.logs[0]).not.toMatchObject({ ...first.logs[0], blockHash: again.blockHash });
    await chain.mine(3);
    await untilHealth(shop, "ETH", ({ height }) => height === Number(again.blockNumber) + 3);
    const taken = await untilStatus(shop, invoice.id, "AWAITING_PAYMENT");
    expect(taken).toMatchObject({ amountReceived: "0.000000", amountConfirmed: "0.000000" });

    await mineBy(MINERS[0]);
    await chain.reorg(4, [raw]);
    await chain.mine();
    const back = await untilInvoice(shop, invoice.id, ({ status }) => status === "PAID");
    expect(back).toMatchObject({ amountReceived: "100.000000", amountConfirmed: "100.000000" });
  });
});
