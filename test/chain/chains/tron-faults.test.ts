import { describe, expect, it } from "vitest";
import { addressOfHex } from "../../../src/chains/tron/tron-hex.ts";
import {
  chain,
  contract,
  facts,
  failure,
  good,
  grid,
  mine,
  mined,
  payer,
  rpc,
  scanned,
  sender,
  shop,
  shown,
  TRX,
  transfers,
  tron,
  USDT,
  useTron,
} from "./tron-harness.ts";

useTron();

describe("failing TRON sources", () => {
  it.each([
    ["throttled", ["RATE_LIMITED", null]],
    ["suspended", ["RATE_LIMITED", 30_000]],
  ] as const)("a source that throttles in its own way (%s) is RATE_LIMITED", async (fault, outage) => {
    const to = await good(rpc.tip());
    tron.fault = fault;
    for (const client of [rpc, grid]) {
      expect(await failure(client.tip())).toEqual(outage);
      const range = { from: to.height, to, recipients: new Set([shop]), assets: TRX.assets };
      expect(await failure(client.scan(range))).toEqual(outage);
    }
  });

  it("a refused API key counts as a ban, because the two cannot be distinguished", async () => {
    tron.fault = "forbidden";
    for (const client of [rpc, grid]) expect(await failure(client.tip())).toEqual(["BANNED", null]);
  });

  it("a node without the last block is BEHIND, and never gives an empty result", async () => {
    await mine(5);
    await mined({ to: contract(USDT), data: transfers([payer, shop, 31n]) });
    const to = await good(rpc.tip());
    tron.behind = 1;
    for (const client of [rpc, grid]) {
      const range = { from: to.height - 5, to, recipients: new Set([shop]), assets: TRX.assets };
      expect(await failure(client.scan(range))).toEqual(["BEHIND", null]);
    }
  });

  it("a wrongly empty response gives an empty scan, and the hidden transfers are found when the overlap is read again", async () => {
    await mined({ to: contract(USDT), data: transfers([payer, shop, 41n]) });
    const to = await good(rpc.tip());
    tron.isBlind = true;
    for (const client of [rpc, grid]) expect(await scanned(client, { from: to.height })).toEqual([]);
    tron.isBlind = false;
    await mine(1);
    for (const client of [rpc, grid])
      expect(shown(await scanned(client, { from: to.height }))).toEqual([["USDT", "0", 41n]]);
  });
});

describe("in a scan of TRON,", () => {
  const tokens = TRX.assets.filter(({ contract: at }) => at !== null);

  it("with more than a thousand recipients, all transfers of the token are read, and only those to the recipients are returned", async () => {
    await mined({ to: contract(USDT), data: transfers([payer, shop, 51n], [payer, payer, 1n]) });
    const to = await good(rpc.tip());
    const crowd = Array.from(
      { length: 1_000 },
      (_, index) => addressOfHex((index + 1).toString(16).padStart(40, "0")) ?? "",
    );
    const recipients = new Set([...crowd, shop]);
    tron.asked.length = 0;
    expect(shown(await scanned(rpc, { from: to.height, recipients, assets: tokens }))).toEqual([["USDT", "0", 51n]]);
    expect(tron.asked.filter((method) => method === "eth_getLogs")).toHaveLength(1);
  });

  it.each([{ maxResults: 2 }, { maxRange: 3 }])("a range refused under %j is halved until it fits", async (limit) => {
    for (let index = 0; index < 6; index++) await mined({ to: contract(USDT), data: transfers([payer, shop, 61n]) });
    const to = await good(rpc.tip());
    Object.assign(tron, limit);
    expect(await scanned(rpc, { from: to.height - 5, assets: tokens })).toHaveLength(6);
  });

  it("a range of more than 200 blocks is read from its start, and the result has the last block that was read", async () => {
    await mine(210);
    const to = await good(rpc.tip());
    const from = to.height - 205;
    const scan = await good(rpc.scan({ from, to, recipients: new Set([shop]), assets: TRX.assets }));
    expect(scan).toEqual({ transfers: [], to: await good(rpc.block(from + 199)) });
  });

  it("two blocks with the same time are distinguished", async () => {
    await chain.rpc("anvil_setBlockTimestampInterval", 0);
    for (const value of ["0x7", "0x8"]) {
      await chain.rpc("eth_sendTransaction", { from: sender, to: contract(shop), value });
      await chain.rpc("evm_mine");
    }
    await chain.rpc("anvil_removeBlockTimestampInterval");
    const to = await good(grid.tip());
    const before = await good(grid.block(to.height - 1));
    expect(before?.timeMs).toBe(to.timeMs);
    const found = await scanned(grid, { from: to.height - 1, to });
    expect(found.map(({ amountUnits, block }) => [amountUnits, block?.height]).toSorted()).toEqual([
      [7n, to.height - 1],
      [8n, to.height],
    ]);
  });

  it("TronGrid's lists are read to their last page", async () => {
    tron.pageRows = 3;
    const token = { to: contract(USDT), data: transfers([payer, shop, 1n], [payer, shop, 2n]) };
    const coin = { to: contract(shop), value: 5n };
    await mined(token, coin, token, coin, token);
    await mined(coin, token, coin);
    const to = await good(rpc.tip());
    const from = to.height - 1;
    tron.asked.length = 0;
    const byGrid = await scanned(grid, { from, to });
    expect(byGrid).toHaveLength(12);
    expect(tron.asked.filter((path) => path.endsWith("/transactions/trc20"))).toHaveLength(3);
    expect(tron.asked.filter((path) => path.endsWith("/transactions"))).toHaveLength(2);
    expect(facts(await scanned(rpc, { from, to }))).toEqual(facts(byGrid));
  });
});
