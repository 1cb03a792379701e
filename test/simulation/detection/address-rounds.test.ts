// Rounds over addresses: whether they end, what they find, and what happens to an address that is refused or flooded. The watcher is recreated before
// each pass.
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { selectCheckout } from "../../../src/checkout/pay/store.ts";
import { fileOf } from "../../../src/commerce/invoice-records/invoice.ts";
import { selectInvoiceRow } from "../../../src/commerce/invoice-records/store.ts";
import { invoiceBodyOf } from "../../../src/commerce/invoices/invoice-body.ts";
import { settlementChange } from "../../../src/commerce/invoices/settle-invoice.ts";
import { type InvoiceId, makeId } from "../../../src/lib/ids.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { stuckAddresses } from "../../../src/platform/db/schema/network-cursors.ts";
import { FakeChain, FakeSource, type Sent } from "../../support/fake-chain.ts";
import { openPayment, watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { BLOCK_MS, HOUR, POLL_MS, quietLab, START } from "./quiet-lab.ts";
import { instantSleep, MAC_KEYS } from "./reorg-shop.ts";

const MERCHANT = makeId("mer", "0".repeat(26));

const { lab, db, inLab: run } = quietLab();
const inLab = (work: () => Promise<void>) => () => run(work);

const sentTo = (toAddress: string, txHash = `pays ${toAddress}`): Sent => ({
  cryptocurrency: "BTC",
  txHash,
  toAddress,
  amountUnits: 1n,
});

async function watching(addresses: readonly string[], expiresAtMs = START + HOUR) {
  const chain = new FakeChain({ startMs: START - 299 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 300 });
  const source = new FakeSource(chain, { kind: "esplora", costsBy: "recipients" });
  const watcher = new TestWatcher(db, "BTC", [source], START + 1_000, instantSleep);
  const ids: InvoiceId[] = [];
  for (const [n, address] of addresses.entries()) {
    const of = { network: "BTC", cryptocurrency: "BTC", address, merchantId: MERCHANT, expiresAtMs };
    ids.push(await watchMethod(db, { ...of, nowMs: START + n }));
  }
  const found = () => new Set(watcher.found().map((text) => text.split("@")[0]));
  /** Runs passes; mines a block after every twenty. */
  const passes = async (count: number) => {
    for (let n = 0; n < count; n++) {
      watcher.nowMs += POLL_MS;
      if (n % 20 === 19) chain.mine([], watcher.nowMs);
      expect((await watcher.pass()).kind).toBe("read");
    }
  };
  const fileAt = async (id = ids[0]) => {
    const [row] = await selectInvoiceRow(db, MERCHANT, id ?? makeId("inv", ""));
    if (row === undefined) throw new Error("no invoice");
    return fileOf(row);
  };
  const stuck = () => db.select().from(stuckAddresses);
  return { chain, source, watcher, ids, found, passes, fileAt, stuck };
}

const many = (count: number) => Array.from({ length: count }, (_, n) => `A${n}`);

describe("a round over addresses", () => {
  it.each([
    [60, 2],
    [61, 3],
    [150, 6],
    [1_000, 36],
  ])(
    "finds every payment to %i addresses and closes every invoice in at most %i passes, without state in memory",
    (count, most) =>
      inLab(async () => {
        const { chain, watcher, found, passes } = await watching(many(count), START + POLL_MS);
        chain.mine(
          many(count).map((address) => sentTo(address)),
          START + POLL_MS,
        );
        await passes(most);
        expect(found().size).toBe(count);
        const cursor = await watcher.cursor();
        expect([cursor.height, cursor.passedMs > START + POLL_MS]).toEqual([300, true]);
      })(),
  );

  it(
    "ends even if each tick adds more addresses than it reads",
    inLab(async () => {
      const { watcher, passes } = await watching(many(150));
      for (let tick = 0; tick < 6; tick++) {
        for (let n = 0; n < 70; n++) {
          const of = { network: "BTC", cryptocurrency: "BTC", address: `B${tick}.${n}`, nowMs: watcher.nowMs };
          await watchMethod(db, { ...of, expiresAtMs: START + HOUR });
        }
        await passes(1);
      }
      expect((await watcher.cursor()).passedMs).toBeGreaterThan(START);
    }),
  );

  it.each([0, 1, 2])(
    "does not leave the cursor at the last block of a round if a reorg removes that block %i passes later",
    (later) =>
      inLab(async () => {
        const { chain, watcher, passes } = await watching(many(150), START + 100 * HOUR);
        await passes(4);
        // The next round ends at this block.
        chain.mine([], watcher.nowMs);
        await passes(1 + later);
        chain.drop(1);
        chain.mineMany(2);
        for (let n = 0; n < 6; n++) {
          await passes(1);
          const { height, hash } = await watcher.cursor();
          expect(hash).toBe(chain.at(height ?? -1)?.hash);
        }
      })(),
  );

  it(
    "reads an address once, however many invoices share it",
    inLab(async () => {
      const { source, watcher, passes } = await watching(Array.from({ length: 500 }, () => "SHARED"));
      await passes(1);
      expect(source.asked("history")).toBe(1);
      expect((await watcher.cursor()).passedMs).toBeGreaterThan(START);
    }),
  );

  it(
    "restarts from the fork after a reorg, and looks up only a payment whose block hash is not on the chain",
    inLab(async () => {
      const { chain, source, watcher, passes } = await watching(many(150), START + 100 * HOUR);
      await passes(4);
      const { height, hash, timeMs } = chain.mine([sentTo("A1"), sentTo("A2")], watcher.nowMs);
      for (const [address, blockHash] of [
        ["A1", hash],
        ["A2", "on a branch that lost"],
      ] as const)
        await openPayment(db, {
          network: "BTC",
          cryptocurrency: "BTC",
          txHash: `pays ${address}`,
          toAddress: address,
          createdAtMs: START,
          blockHeight: height,
          blockHash,
          blockTimeMs: timeMs,
          status: "CONFIRMED",
        });
      await passes(6);
      expect(source.calls.filter((call) => call.startsWith("lookup"))).toEqual(["lookup pays A2"]);
      chain.drop(1);
      chain.mineMany(2);
      await passes(8);
      const [cursor] = lab.rows("select height, hash from network_cursors");
      expect(chain.at(Number(cursor?.height))?.hash).toBe(cursor?.hash);
      expect(Number(cursor?.height)).toBeGreaterThan(height);
    }),
  );
});

describe("an address that a source refuses", () => {
  it(
    "does not delay other addresses, and is reported by one event once the refusal has lasted for minutes",
    inLab(async () => {
      const { chain, source, watcher, ids, found, passes, fileAt, stuck } = await watching(["POISON", "VICTIM"]);
      source.faults.set("POISON", "BAD_STATUS");
      chain.mine([sentTo("VICTIM"), sentTo("POISON")], START + 2_000);
      // More blocks than any overlap, all unread when the address is first refused.
      for (let n = 0; n < 20; n++) chain.mine([], START + 3_000);
      await passes(50);
      expect([...found()]).toEqual(["pays VICTIM"]);
      expect((await watcher.cursor()).height).toBe(322);
      const degraded = await db.select().from(events).where(eq(events.type, "wallet.address_degraded"));
      expect(degraded.map(({ merchantId, data }) => [merchantId, JSON.parse(data)])).toEqual([
        [MERCHANT, { network: "BTC", address: "POISON", degradedSince: expect.any(String), reason: "BAD_STATUS" }],
      ]);
      // The address is retried at growing intervals.
      expect(source.asked("history POISON")).toBeLessThan(12);
      // The refused address's invoice stays open long after its expiry and shows a warning; the other invoice closes.
      const lateMs = START + 20 * HOUR;
      await db.update(stuckAddresses).set({ nextAtMs: 0 });
      watcher.nowMs = lateMs;
      chain.mine([], lateMs);
      await watcher.pass();
      const file = await fileAt(ids[0]);
      expect(settlementChange(file, lateMs)).toBeUndefined();
      // The checkout page reads the same cursors, so it settles the invoice in the same way.
      const [page] = await selectCheckout(db, file.invoice.id);
      expect(page?.watched).toEqual(file.cursors);
      expect(invoiceBodyOf(file, { macKeys: MAC_KEYS, publicUrl: "", nowMs: lateMs }).warnings).toEqual([
        "ADDRESS_NOT_READ",
      ]);
      expect(settlementChange(await fileAt(ids[1]), lateMs)?.moves).toEqual(["EXPIRED"]);
      // When the source answers again, the address is read from its last position, and its invoice closes.
      source.faults.clear();
      await db.update(stuckAddresses).set({ nextAtMs: 0 });
      await passes(2);
      expect([...found()]).toEqual(["pays VICTIM", "pays POISON"]);
      expect(await stuck()).toEqual([]);
      const closed = await fileAt(ids[0]);
      expect(settlementChange(closed, lateMs + HOUR)?.moves).toEqual(["EXPIRED"]);
    }),
  );

  it(
    "is distinguished from an outage, in which the source answers nothing and no address is marked",
    inLab(async () => {
      const { source, watcher, stuck } = await watching(many(100));
      await watcher.pass();
      for (const down of ["RATE_LIMITED", "TIMEOUT", "BAD_STATUS"] as const) {
        // The source still serves blocks, but its index of addresses has failed.
        source.before = async (call) => {
          source.down = call.startsWith("history") ? down : undefined;
        };
        watcher.nowMs += 300_000;
        expect(await watcher.pass()).toEqual({ kind: "failed", outage: down });
      }
      expect(await stuck()).toEqual([]);
    }),
  );

  it(
    "is distinguished from an outage even if it is the only address on its network",
    inLab(async () => {
      const { source, watcher, stuck } = await watching(["POISON"]);
      source.faults.set("POISON", "RATE_LIMITED");
      expect((await watcher.pass()).kind).toBe("read");
      expect(await stuck()).toMatchObject([{ address: "POISON", reason: "RATE_LIMITED" }]);
    }),
  );
});

describe("an address with 5,200 small transactions", () => {
  it(
    "is read over several passes, with a few pages in each, without delaying any other address",
    inLab(async () => {
      const { chain, source, found, passes, stuck } = await watching(["FLOODED", "VICTIM"]);
      chain.mine(
        Array.from({ length: 2_600 }, (_, n) => sentTo("FLOODED", `dust ${n}`)),
        START + 2_000,
      );
      chain.mine(
        [sentTo("FLOODED"), ...Array.from({ length: 2_600 }, (_, n) => sentTo("FLOODED", `more ${n}`))],
        START + 3_000,
      );
      chain.mine([sentTo("VICTIM")], START + 4_000);
      await passes(1);
      expect(found()).toContain("pays VICTIM");
      expect(source.pages).toBeLessThanOrEqual(5);
      source.pages = 0;
      await passes(1);
      expect(source.pages).toBeLessThanOrEqual(12);
      let taken = 2;
      for (; taken < 60 && found().size < 5_202; taken++) {
        if (taken === 10) chain.mempool = [sentTo("FLOODED", "in between")];
        await passes(1);
        if (taken === 10) expect(found()).toContain("in between");
      }
      expect(taken).toBeLessThan(30);
      // Once the flood is no longer in the overlap, the address is read like any other.
      for (let n = 0; n < 7; n++) chain.mine([]);
      await passes(25);
      expect(await stuck()).toEqual([]);
      expect(found().size).toBe(5_203);
    }),
  );
});

describe("a source that asks for a pause", () => {
  it(
    "is not asked again before the pause ends, even though nothing is kept in memory",
    inLab(async () => {
      const { source, watcher } = await watching(["A0"]);
      source.down = "RATE_LIMITED";
      await watcher.pass();
      const asked = source.calls.length;
      watcher.nowMs += 1_999;
      expect(await watcher.pass()).toEqual({ kind: "failed", outage: "RATE_LIMITED" });
      expect(source.calls.length).toBe(asked);
      source.down = undefined;
      watcher.nowMs += 1;
      expect((await watcher.pass()).kind).toBe("read");
    }),
  );
});

describe("a payment whose transaction a source refuses", () => {
  it(
    "does not fail the pass and is checked again later, while the others are checked as usual",
    inLab(async () => {
      const { chain, source, watcher, ids, passes } = await watching(["A0"], START + 100 * HOUR);
      const {
        height: blockHeight,
        hash: blockHash,
        timeMs: blockTimeMs,
      } = chain.mine([sentTo("A0", "t1"), sentTo("A0", "t2")], START + 2_000);
      const at = { network: "BTC", cryptocurrency: "BTC", toAddress: "A0", createdAtMs: START };
      for (const txHash of ["t1", "t2"])
        await openPayment(db, { ...at, txHash, invoiceId: ids[0] ?? null, blockHeight, blockHash, blockTimeMs });
      source.faults.set("t1", "RATE_LIMITED");
      await passes(3);
      const statuses = () => lab.rows("select status from payments order by tx_hash").map(({ status }) => status);
      expect(statuses()).toEqual(["DETECTED", "CONFIRMED"]);
      expect((await watcher.cursor()).degradedSinceMs).toBeNull();
      source.faults.clear();
      await passes(1);
      expect(statuses()).toEqual(["CONFIRMED", "CONFIRMED"]);
    }),
  );
});

describe("an address that one source refuses and a second source reads by blocks", () => {
  it(
    "is read by the second source from the position that the first reached, and is no longer read separately after that",
    inLab(async () => {
      const { chain, source, watcher, found, passes, stuck } = await watching(["POISON", "VICTIM"], START + 100 * HOUR);
      await passes(1);
      source.faults.set("POISON", "BAD_STATUS");
      await passes(1);
      chain.mine([sentTo("POISON")], watcher.nowMs);
      for (let n = 0; n < 30; n++) chain.mine([], watcher.nowMs + n);
      await passes(1);
      expect([await watcher.cursor(), await stuck()]).toMatchObject([{ height: 330 }, [{ readHeight: 299 }]]);
      const node = new FakeSource(chain, { kind: "core-rpc" });
      const other = new TestWatcher(db, "BTC", [node], watcher.nowMs, instantSleep);
      for (let n = 0; n < 7; n++) expect((await other.pass()).kind).toBe("read");
      expect([new Set(other.found()), found().size, await stuck()]).toEqual([new Set(["pays POISON@300"]), 0, []]);
    }),
  );
});

describe("after a fork deeper than any overlap,", () => {
  it(
    "an address that was refused when the fork happened is read again",
    inLab(async () => {
      const { chain, source, watcher, found, passes } = await watching(["POISON", "VICTIM"], START + 100 * HOUR);
      for (let n = 0; n < 12; n++) {
        chain.mine([], START + 1_000 + n);
        await passes(1);
      }
      source.faults.set("POISON", "BAD_STATUS");
      await passes(2);
      chain.drop(10);
      chain.mine([sentTo("POISON"), sentTo("VICTIM")], watcher.nowMs);
      for (let n = 0; n < 11; n++) chain.mine([], watcher.nowMs + n);
      await passes(2);
      expect([...found()]).toEqual(["pays VICTIM"]);
      source.faults.clear();
      await db.update(stuckAddresses).set({ nextAtMs: 0 });
      await passes(1);
      expect([...found()]).toEqual(["pays VICTIM", "pays POISON"]);
    }),
  );
});

describe("a fork below the cursor", () => {
  it(
    "also moves the cursor's time back, because a payment on the other branch may be earlier",
    inLab(async () => {
      const { chain, watcher, passes } = await watching(["A0"], START + 100 * HOUR);
      await passes(1);
      for (let n = 0; n < 3; n++) chain.mine([], START + 60_000 + n);
      await passes(2);
      const before = await watcher.cursor();
      chain.drop(2);
      chain.mineMany(3);
      chain.mine([sentTo("A0")], watcher.nowMs);
      // The state just after the watcher went back, before anything of the new branch is stored.
      watcher.refusal = { code: "STORAGE_UNAVAILABLE" };
      watcher.nowMs += POLL_MS;
      expect((await watcher.pass()).kind).toBe("interrupted");
      const { height, passedMs } = await watcher.cursor();
      const forkMs = chain.at(height ?? -1)?.timeMs ?? Number.NaN;
      expect([before.height, height]).toEqual([302, 299]);
      expect(before.passedMs).toBeGreaterThan(forkMs);
      expect(passedMs).toBe(forkMs);
    }),
  );
});
