import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, describe, expect, it } from "vitest";
import type { AllocateAnswer, AllocateRequest, AllocatorRpc } from "../../../src/commerce/wallets/allocations.ts";
import { parseExtendedKey } from "../../../src/commerce/wallets/extended-key.ts";
import type { PublicHold } from "../../../src/commerce/wallets/public-hold.ts";
import { network } from "../../support/named-network.ts";
import { freshKey, PATH } from "./wallets-harness.ts";

interface TestKey {
  readonly xpub: string;
  readonly keyHash: string;
  readonly expected: (index: number) => string;
}

const made: TestKey[] = [];

// These tests use invoice names that are not ids. An import in another test file must not find them, and aborted objects once outlived the reset
// between files.
afterAll(async () => {
  for (const key of made) await runInDurableObject(stubOf(key), (_, { storage }) => storage.deleteAll());
});

/** A fresh account key, and the addresses that other libraries derive from it. */
function freshTestKey(): TestKey {
  const { zpub: xpub, address: expected } = freshKey();
  const parsed = parseExtendedKey({ network: network("BTC"), xpub, derivationPath: PATH });
  if (!parsed.ok) throw new Error(parsed.error.reason);
  const key = { xpub, keyHash: parsed.value.keyHash, expected };
  made.push(key);
  return key;
}

const stubOf = ({ keyHash }: Pick<TestKey, "keyHash">) => env.ADDRESS_ALLOCATOR.getByName(keyHash);
const rpcOf = (key: TestKey): AllocatorRpc => stubOf(key);
const requestOf = (key: TestKey, invoiceId: string, over: Partial<AllocateRequest> = {}): AllocateRequest => ({
  invoiceId,
  merchantId: "mer_first",
  network: "BTC",
  xpub: key.xpub,
  derivationPath: PATH,
  cap: null,
  publicHold: null,
  ...over,
});

function allocated(answer: AllocateAnswer) {
  if (answer.kind !== "allocated") throw new Error(`not allocated: ${answer.kind}`);
  return answer;
}

const invoicesFrom = (from: number, count: number) => Array.from({ length: count }, (_, at) => `inv_${from + at}`);

describe("an extended key's allocator", () => {
  it("starts at index 0 and reports its next index", async () => {
    const key = freshTestKey();
    expect(await rpcOf(key).nextIndex()).toEqual({ nextIndex: 0 });
    const answer = await rpcOf(key).allocate(requestOf(key, "inv_1"));
    expect(answer).toEqual({ kind: "allocated", index: 0, address: key.expected(0), nextIndex: 1 });
    expect(await rpcOf(key).nextIndex()).toEqual({ nextIndex: 1 });
  });

  it("gives 200 parallel invoices indexes 0 to 199 without a gap, and continues after an eviction and an abort", async () => {
    const key = freshTestKey();
    const run = async (from: number, count: number) => {
      const answers = await Promise.all(invoicesFrom(from, count).map((id) => rpcOf(key).allocate(requestOf(key, id))));
      return answers.map(allocated);
    };
    const before = await run(0, 200);
    await evictDurableObject(stubOf(key));
    const between = await run(200, 50);
    await abortAllDurableObjects();
    const after = await run(250, 50);
    const all = [...before, ...between, ...after].sort((a, b) => a.index - b.index);
    expect(all.map(({ index }) => index)).toEqual([...Array(300).keys()]);
    expect(all.map(({ address }) => address)).toEqual(all.map(({ index }) => key.expected(index)));
    expect(new Set(all.map(({ address }) => address)).size).toBe(300);
  });

  it("always gives a repeated invoice the same index and address, without using another index", async () => {
    const key = freshTestKey();
    const ids = invoicesFrom(0, 20);
    const first = await Promise.all(ids.map((id) => rpcOf(key).allocate(requestOf(key, id))));
    const storm = await Promise.all(
      ids.flatMap((id) => [id, id, id]).map((id) => rpcOf(key).allocate(requestOf(key, id))),
    );
    await evictDurableObject(stubOf(key));
    const later = await Promise.all(ids.map((id) => rpcOf(key).allocate(requestOf(key, id))));
    const facts = (answers: AllocateAnswer[]) =>
      answers.map(allocated).map(({ index, address }) => ({ index, address }));
    expect(facts(later)).toEqual(facts(first));
    expect(facts(storm)).toEqual(facts(first).flatMap((fact) => [fact, fact, fact]));
    expect(await rpcOf(key).nextIndex()).toEqual({ nextIndex: 20 });
    expect(allocated(await rpcOf(key).allocate(requestOf(key, "inv_next"))).index).toBe(20);
  });

  it("gives parallel requests for one invoice the same address", async () => {
    const key = freshTestKey();
    const answers = await Promise.all(Array.from({ length: 50 }, () => rpcOf(key).allocate(requestOf(key, "inv_one"))));
    expect(new Set(answers.map((answer) => allocated(answer).address))).toEqual(new Set([key.expected(0)]));
    expect(await rpcOf(key).nextIndex()).toEqual({ nextIndex: 1 });
  });

  it("never gives two merchants with the same key the same address", async () => {
    const key = freshTestKey();
    const cap = { maxUnpaid: 5, paid: 100 };
    const requests = invoicesFrom(0, 60).map((id, at) =>
      requestOf(
        key,
        id,
        at % 2 === 0 ? {} : { merchantId: "mer_second", cap, derivationPath: "m/84h/0h/0h", xpub: ` ${key.xpub}` },
      ),
    );
    const answers = await Promise.all(requests.map((request) => rpcOf(key).allocate(request)));
    expect(new Set(answers.map((answer) => allocated(answer).address)).size).toBe(60);
    expect(new Set(answers.map((answer) => allocated(answer).index))).toEqual(new Set(Array(60).keys()));
  });

  it("limits how many unpaid addresses a second merchant may have, but never limits the first merchant", async () => {
    const key = freshTestKey();
    const second = (id: string, paid: number) =>
      rpcOf(key).allocate(requestOf(key, id, { merchantId: "mer_second", cap: { maxUnpaid: 5, paid } }));
    const third = (id: string) =>
      rpcOf(key).allocate(requestOf(key, id, { merchantId: "mer_third", cap: { maxUnpaid: 5, paid: 0 } }));
    const storm = await Promise.all(invoicesFrom(0, 30).map((id) => second(id, 0)));
    expect(storm.filter(({ kind }) => kind === "allocated")).toHaveLength(5);
    expect(storm.filter(({ kind }) => kind === "unpaid_limit")).toHaveLength(25);
    expect(await rpcOf(key).nextIndex()).toEqual({ nextIndex: 5 });
    // An invoice keeps its address, a payment allows one more address, and other merchants have their own count.
    const held = storm.findIndex(({ kind }) => kind === "allocated");
    expect(await second(`inv_${held}`, 0)).toMatchObject({ kind: "allocated" });
    expect(await second("inv_paid_1", 1)).toMatchObject({ kind: "allocated", index: 5 });
    expect(await second("inv_paid_2", 1)).toEqual({ kind: "unpaid_limit" });
    expect(await third("inv_third")).toMatchObject({ kind: "allocated", index: 6 });
    const first = await Promise.all(invoicesFrom(100, 20).map((id) => rpcOf(key).allocate(requestOf(key, id))));
    expect(first.map((answer) => allocated(answer).index)).toEqual(Array.from({ length: 20 }, (_, at) => at + 7));
  });

  describe("for browsers", () => {
    const T0 = Date.UTC(2026, 10, 22);
    const HOUR_MS = 3_600_000;
    const burst = (key: TestKey, ids: readonly string[], hold: Partial<PublicHold> = {}, merchantId = "mer_first") =>
      Promise.all(
        ids.map(async (id) => {
          const publicHold = { lastPaidIndex: -1, networks: [], landed: [], nowMs: T0, ...hold };
          return (await rpcOf(key).allocate(requestOf(key, id, { merchantId, publicHold }))).kind;
        }),
      );
    const tally = (kinds: readonly string[]) => kinds.filter((kind) => kind === "allocated").length;

    it("gives at most twenty addresses past the last paid one, however many are requested at once, and uses no further index", async () => {
      const key = freshTestKey();
      const first = await burst(key, invoicesFrom(0, 40));
      expect([tally(first), new Set(first)]).toEqual([20, new Set(["allocated", "public_limit"])]);
      expect(await rpcOf(key).nextIndex()).toEqual({ nextIndex: 20 });
      // An invoice keeps its address. Addresses held by browsers limit neither a server nor another merchant.
      const given = invoicesFrom(0, 40).filter((_, at) => first[at] === "allocated");
      expect(tally(await burst(key, given))).toBe(20);
      expect(allocated(await rpcOf(key).allocate(requestOf(key, "inv_server"))).index).toBe(20);
      expect(tally(await burst(key, ["inv_theirs"], {}, "mer_second"))).toBe(1);
      // Index 7 was paid: 13 of the merchant's own 21 addresses have a higher index, and the other merchant's address does not count.
      expect(tally(await burst(key, invoicesFrom(50, 30), { lastPaidIndex: 7 }))).toBe(7);
    });

    it("gives one more address per hour beyond those twenty, even after an eviction", async () => {
      const key = freshTestKey();
      await burst(key, invoicesFrom(0, 20));
      expect(tally(await burst(key, ["inv_soon"], { nowMs: T0 + HOUR_MS - 1 }))).toBe(0);
      await evictDurableObject(stubOf(key));
      for (let hour = 1; hour <= 3; hour++)
        expect(tally(await burst(key, invoicesFrom(hour * 100, 5), { nowMs: T0 + hour * HOUR_MS }))).toBe(1);
      expect(await rpcOf(key).nextIndex()).toEqual({ nextIndex: 23 });
    });

    it("counts the stored and pending addresses of a caller's network, each of them once", async () => {
      const key = freshTestKey();
      const from = (hash: string, held = 0) => ({ networks: [{ hash, held, max: 2 }] });
      const storm = await burst(key, invoicesFrom(0, 10), from("one"));
      expect([tally(storm), new Set(storm)]).toEqual([2, new Set(["allocated", "network_limit"])]);
      expect(tally(await burst(key, invoicesFrom(20, 10), from("two")))).toBe(2);
      const given = invoicesFrom(0, 10).filter((_, at) => storm[at] === "allocated");
      // Both invoices are stored now and one was paid, so one more address is allowed.
      expect(tally(await burst(key, invoicesFrom(40, 5), { ...from("one", 1), landed: given }))).toBe(1);
      expect(tally(await burst(key, invoicesFrom(60, 5), { ...from("one", 2), nowMs: T0 + 120_000 }))).toBe(0);
      // An invoice that was never stored is forgotten after a minute.
      expect(tally(await burst(key, invoicesFrom(80, 5), { ...from("two"), nowMs: T0 + 60_001 }))).toBe(2);
    });
  });

  it("stores index, address and invoice as one row", async () => {
    const key = freshTestKey();
    await rpcOf(key).allocate(requestOf(key, "inv_a"));
    await rpcOf(key).allocate(requestOf(key, "inv_b"));
    const rows = await runInDurableObject(stubOf(key), (_, state) =>
      state.storage.sql
        .exec("SELECT address_index, invoice_id, address FROM allocations ORDER BY address_index")
        .toArray(),
    );
    expect(rows).toEqual([
      { address_index: 0, invoice_id: "inv_a", address: key.expected(0) },
      { address_index: 1, invoice_id: "inv_b", address: key.expected(1) },
    ]);
  });

  it("throws for a different key or one that does not parse, and uses no index", async () => {
    const [own, other] = [freshTestKey(), freshTestKey()];
    const tryWith = async (over: Partial<AllocateRequest>) =>
      runInDurableObject(stubOf(own), async (allocator) => {
        try {
          return (await allocator.allocate(requestOf(own, "inv_1", over))).kind;
        } catch (error) {
          return String(error);
        }
      });
    expect(await tryWith({ xpub: other.xpub })).toMatch(/not the object.s own/);
    expect(await tryWith({ xpub: "zpub" })).toMatch(/does not parse: INVALID_XPUB/);
    expect(await tryWith({ derivationPath: "m/84'/0'/1'" })).toMatch(/DERIVATION_PATH_MISMATCH/);
    expect(await tryWith({ network: "LTC", derivationPath: "m/84'/2'/0'" })).toMatch(/not the object.s own/);
    expect(await rpcOf(own).nextIndex()).toEqual({ nextIndex: 0 });
  });
});
