// Addresses on TRON that are flooded with transfers and read through TronGrid: how many requests one reading costs, and whether a payment there is
// still found. The watcher and its clients are recreated before each pass.
import { describe, expect, it } from "vitest";
import { addressOfHex } from "../../../src/chains/tron/tron-hex.ts";
import { LOOK_REQUESTS, PAGE_REQUESTS, trongridClient } from "../../../src/chains/tron/trongrid-client.ts";
import { stuckAddresses } from "../../../src/platform/db/schema/network-cursors.ts";
import { FakeTronGrid, type TronSent } from "../../support/fake-trongrid.ts";
import { watchMethod } from "../../support/watched.ts";
import { networkOf, TestWatcher } from "../../support/watcher.ts";
import { HOUR, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const POLL_MS = 9_000;
/** Requests to continue from the last position, to read the newest page, and to check that the starting block is still on the chain. */
const MOST = LOOK_REQUESTS + PAGE_REQUESTS + 1;
/** Requests that every pass makes before and after its reads: which chain it is, and which blocks there are. */
const PASS = 8;
const OVERLAP = networkOf("TRX").overlapBlocks;

const { db, inLab: run } = quietLab();
const inLab = (work: () => Promise<void>) => () => run(work);

const [FLOODED, NEIGHBOUR] = ["22", "33"].map((byte) => addressOfHex(byte.repeat(20)) ?? "") as [string, string];
const dust = (code: TronSent["code"], amount = 1): TronSent => ({ code, to: FLOODED, amount });

async function watching() {
  const grid = new FakeTronGrid(START);
  grid.mineEmpty(100);
  const source = {
    get client() {
      return trongridClient(grid.settings);
    },
  };
  const watcher = new TestWatcher(db, "TRX", [source], grid.tipMs, instantSleep);
  for (const address of [FLOODED, NEIGHBOUR])
    for (const cryptocurrency of ["USDT", "TRX"])
      await watchMethod(db, {
        network: "TRX",
        cryptocurrency,
        address,
        nowMs: grid.tipMs,
        expiresAtMs: START + 9 * HOUR,
      });
  const found = () => new Set(watcher.found().map((text) => text.split("@")[0]));
  /** Runs one pass; returns the number of its requests. */
  const pass = async () => {
    watcher.nowMs = Math.max(watcher.nowMs + POLL_MS, grid.tipMs);
    grid.asked.length = 0;
    expect((await watcher.pass()).kind).toBe("read");
    return grid.asked.length;
  };
  /** Runs passes until the transfer is found; returns their number. */
  const passesUntil = async (txid: string | undefined, most: number) => {
    let passes = 0;
    for (; !found().has(txid ?? "") && passes < most; passes++)
      expect(await pass()).toBeLessThanOrEqual(MOST + NEIGHBOURS + PASS);
    return passes;
  };
  await pass();
  return { grid, watcher, found, pass, passesUntil, stuck: () => db.select().from(stuckAddresses) };
}

/** Requests for the neighbouring address: its lists, its payment, and the start of the range. */
const NEIGHBOURS = 2 + 2 + 1;

describe("an address on TRON with 5,200 small transfers", () => {
  it(
    "takes about fifty requests per pass, does not delay another address, and shows an older payment within 120 passes",
    inLab(async () => {
      const { grid, found, passesUntil, pass, stuck } = await watching();
      const [paid] = grid.mine({ code: "USDT", to: FLOODED, amount: 5_000_000 });
      for (let n = 0; n < 1_300; n++) grid.mine(...Array.from({ length: 4 }, () => dust("USDT")));
      const [neighbour] = grid.mine({ code: "USDT", to: NEIGHBOUR, amount: 7_000_000 });
      expect(MOST).toBeLessThanOrEqual(50);
      expect(await pass()).toBeLessThanOrEqual(LOOK_REQUESTS + NEIGHBOURS + PASS);
      expect(found()).toContain(neighbour);
      expect(await stuck()).toMatchObject([{ address: FLOODED, reason: "FLOODED" }]);
      expect(await passesUntil(paid, 120)).toBeLessThan(120);
      // No transfer of the flood is missing.
      expect(found().size).toBe(5_202);
      grid.mineEmpty(OVERLAP);
      // Runs passes until the current reading ends and everything newer is out of the overlap.
      for (let n = 0; n < 6; n++) await pass();
      expect(await stuck()).toEqual([]);
    }),
  );

  it(
    "shows a payment in another asset, or one newer than the flood, in the next pass",
    inLab(async () => {
      const { grid, found, passesUntil, pass } = await watching();
      const [token] = grid.mine({ code: "USDT", to: FLOODED, amount: 5_000_000 });
      for (let n = 0; n < 5_200; n++) grid.mine(dust("TRX"));
      await pass();
      expect(found()).toContain(token);
      await pass();
      const [top] = grid.mine({ code: "TRX", to: FLOODED, amount: 9_000_000 });
      expect(await passesUntil(top, 9)).toBe(1);
    }),
  );

  it(
    "costs only the requests for its pages if no transfer can be a payment: zero amounts and worthless tokens",
    inLab(async () => {
      const { grid, found, passesUntil } = await watching();
      const paid = grid.mine(dust("USDT", 5_000_000), dust("TRX", 6_000_000));
      for (let n = 0; n < 1_300; n++)
        grid.mine(dust("USDT", 0), dust("USDT", 0), dust("TRC10", 9_000_000), dust("TRX", 0));
      expect(await passesUntil(paid[0], 9)).toBe(1);
      expect(found()).toEqual(new Set(paid));
    }),
  );
});

describe("reading an address on TRON", () => {
  const history = async (grid: FakeTronGrid, of: { readonly after?: string | null; readonly from?: number } = {}) => {
    const client = trongridClient(grid.settings);
    const to = await client.tip();
    if (!to.ok) throw new Error("no tip");
    grid.asked.length = 0;
    const { assets } = networkOf("TRX");
    const { after = null, from = 0 } = of;
    return client.history?.({ address: FLOODED, from, to: to.value, assets, after, pages: 4 });
  };

  it("costs a list for each asset, two requests for a new transfer, and one for the start of the range", async () => {
    const grid = new FakeTronGrid(START);
    grid.mineEmpty(9);
    grid.mine(dust("USDT", 5));
    expect(await history(grid)).toMatchObject({ ok: true, value: { transfers: [{ amountUnits: 5n }], next: null } });
    expect(grid.asked.map((path) => path.split("/").at(-1)).toSorted()).toEqual(
      ["getblockbynum", "getblockbynum", "gettransactioninfobyid", "transactions", "trc20"].toSorted(),
    );
  });

  it("takes at most twelve requests for a block of hundreds of transfers, and misses none", async () => {
    const grid = new FakeTronGrid(START);
    const paid = grid.mine(...Array.from({ length: 450 }, (_, n) => dust(n % 2 === 0 ? "USDT" : "TRX", n + 1)));
    const read = await history(grid);
    expect(read?.ok && new Set(read.value.transfers.map(({ txHash }) => txHash))).toEqual(new Set(paid));
    expect(grid.asked.length).toBeLessThanOrEqual(12);
  });

  it("continues with any client until everything is read, and returns each transfer once unless a block is split between pages", async () => {
    const grid = new FakeTronGrid(START);
    for (let n = 0; n < 500; n++) grid.mine(dust("USDT", 1), dust("TRX", 2));
    const found: string[] = [];
    let after: string | null = null;
    do {
      const read: Awaited<ReturnType<typeof history>> = await history(grid, { after });
      if (read?.ok !== true) throw new Error("no history");
      expect(grid.asked.length).toBeLessThanOrEqual(LOOK_REQUESTS);
      found.push(...read.value.transfers.map(({ txHash }) => txHash));
      after = read.value.next;
    } while (after !== null);
    expect(new Set(found).size).toBe(1_000);
    expect(found.length).toBeLessThanOrEqual(1_010);
  });

  it("starts over from a position that it cannot parse", async () => {
    const grid = new FakeTronGrid(START);
    grid.mine(dust("USDT", 1));
    expect(await history(grid, { after: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t mark" })).toMatchObject({
      value: { transfers: [{ amountUnits: 1n }], next: null },
    });
  });

  it.each([1, 2, 3, 9])("skips %i failed transfers in a block and returns the good one", async (count) => {
    for (const code of ["USDT", "TRX"] as const) {
      const grid = new FakeTronGrid(START);
      const failed = Array.from({ length: count }, () => ({ ...dust(code, 5), lie: "FAILED" }) as const);
      const [paid] = grid.mine(dust(code, 7), ...failed);
      const read = await history(grid);
      expect(read?.ok && read.value.transfers.map(({ txHash }) => txHash)).toEqual([paid]);
    }
  });

  it.each([
    ["UNMINED", 1],
    ["UNMINED", 2],
    ["UNMINED", 9],
    ["LATER", 9],
  ] as const)("fails with BEHIND if rows are from blocks the node does not have (%s, %i)", async (lie, count) => {
    for (const code of lie === "LATER" ? (["TRX"] as const) : (["USDT", "TRX"] as const)) {
      const grid = new FakeTronGrid(START);
      grid.mine(...Array.from({ length: count }, () => ({ ...dust(code, 5), lie }) as const));
      grid.mineEmpty(2);
      expect(await history(grid)).toMatchObject({ ok: false, error: { kind: "BEHIND" } });
    }
  });

  it.each(["the same mark", "a new mark"] as const)(
    "fails with UNEXPECTED_SHAPE if every page is the first one, with %s",
    async (repeats) => {
      const grid = new FakeTronGrid(START);
      for (let n = 0; n < 300; n++) grid.mine(dust("USDT", 0));
      grid.repeats = repeats;
      expect(await history(grid)).toMatchObject({ ok: false, error: { kind: "UNEXPECTED_SHAPE" } });
    },
  );
});
