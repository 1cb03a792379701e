// Which database calls the requests of a group share, and which they do not.
import { describe, expect, it } from "vitest";
import { type Sleep, sleep } from "../../../../src/lib/sleep.ts";
import { type Db, openDb } from "../../../../src/platform/db/client.ts";
import { Gatherer } from "../../../../src/platform/db/gatherer.ts";
import { Groups } from "../../../../src/platform/db/groups.ts";
import { insertOperation, selectOperation } from "../../../../src/platform/idempotency/store.ts";
import { migratedDatabase, savepoints, sqliteD1, statementCache } from "../../../simulation/engine/sqlite-d1.ts";

function groupsOf(onCall: () => void | Promise<void> = () => {}, nowMs = () => Date.now(), sleeping: Sleep = sleep) {
  const sqlite = migratedDatabase();
  const call = async <T>(_: unknown, work: () => T | Promise<T>) => {
    await onCall();
    return work();
  };
  const db = openDb(sqliteD1(statementCache(sqlite), savepoints(sqlite), async (name, work) => call(name, work)));
  return Object.assign(new Groups({ db, sleep: sleeping, nowMs }), { db });
}

const operation = (db: Db, id: string) =>
  insertOperation(db, { id, merchantId: "mer_1", status: 201, body: "{}", bodyAt: null, createdAtMs: 0 });

describe("a group of changes", () => {
  it("needs few batches even if most changes are refused, and answers servers before browsers", async () => {
    let calls = 0;
    const groups = groupsOf(() => {
      calls += 1;
    });
    const write = (id: string, isPublic: boolean) =>
      groups.request(isPublic).write({ statements: [operation(groups.db, id)], subjects: [] });
    await write("taken", false);
    calls = 0;
    const order: string[] = [];
    const noted = async (name: string, id: string, isPublic: boolean) => {
      const { kind } = await write(id, isPublic);
      order.push(name);
      return kind;
    };
    const browsers = Array.from({ length: 16 }, () => noted("browser", "taken", true));
    const servers = Array.from({ length: 4 }, (_, n) => noted("server", `free ${n}`, false));
    expect(new Set(await Promise.all(servers))).toEqual(new Set(["answered"]));
    expect(new Set(await Promise.all(browsers))).toEqual(new Set(["conflict"]));
    expect(order.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => "server"));
    // Sent separately, the sixteen refused writes would take a batch each, and splitting the group down to single requests would take twenty more.
    expect(calls).toBeLessThan(20);
  });

  it("remembers the last 4,096 changed subjects, and leaves conflicts over older ones to the database", async () => {
    const groups = groupsOf();
    const early = groups.request(false);
    const write = (of: typeof early, id: string, subjects: readonly string[]) =>
      of.write({ statements: [operation(groups.db, id)], subjects });
    const many = Array.from({ length: 5_000 }, (_, n) => `subject ${n}`);
    await write(groups.request(false), "changes many", many);
    expect(await write(early, "a", ["subject 4999"])).toMatchObject({ kind: "conflict" });
    expect(await write(early, "b", ["subject 904"])).toMatchObject({ kind: "conflict" });
    expect(await write(early, "c", ["subject 903"])).toMatchObject({ kind: "answered" });
  });
});

describe("calls to another object", () => {
  it("that arrive while a call is in flight are sent together, and each gets its own answer", async () => {
    const groups = groupsOf();
    const calls: number[][] = [];
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const ask = (n: number) =>
      groups.request(false).ask("double", n, async (items: readonly number[]) => {
        calls.push([...items]);
        await gate;
        return items.map((item) => item * 2);
      });
    const first = ask(1);
    await expect.poll(() => calls).toEqual([[1]]);
    const others = [2, 3, 4].map(ask);
    open();
    expect(await Promise.all([first, ...others])).toEqual([2, 4, 6, 8]);
    expect(calls).toEqual([[1], [2, 3, 4]]);
  });

  it("that arrive one after another without a pause are sent together, even to an idle object", async () => {
    const groups = groupsOf();
    const calls: number[][] = [];
    const ask = async (n: number) => {
      // Even callers that are answered together need different numbers of steps before their next call.
      for (let step = 0; step < 10 * n; step++) await undefined;
      return groups.request(false).ask("same", n, async (items: readonly number[]) => {
        calls.push([...items]);
        return items;
      });
    };
    expect(await Promise.all([1, 2, 3, 4].map(ask))).toEqual([1, 2, 3, 4]);
    expect(calls).toEqual([[1, 2, 3, 4]]);
  });

  it("are sent separately once a joint call fails, so that only the faulty call fails", async () => {
    const groups = groupsOf();
    const ask = (n: number) =>
      groups.request(false).ask("odd", n, async (items: readonly number[]) => {
        if (items.includes(3)) throw new Error("three");
        return items;
      });
    const answers = await Promise.allSettled([1, 2, 3, 4].map(ask));
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  });

  it("are not repeated if the object is overloaded", async () => {
    const groups = groupsOf();
    let calls = 0;
    const overloaded = Object.assign(new Error("too much"), { overloaded: true });
    const ask = () =>
      groups.request(false).ask("busy", 1, async () => {
        calls += 1;
        throw overloaded;
      });
    const answers = await Promise.allSettled([ask(), ask(), ask(), ask()]);
    expect(answers.every(({ status }) => status === "rejected")).toBe(true);
    expect(calls).toBe(1);
  });
});

describe("a gatherer", () => {
  const never = new Promise<never>(() => {});

  it("sends the next call while one hangs, and is idle only when no call is in flight", async () => {
    const sent: string[][] = [];
    const gatherer = new Gatherer<{ readonly name: string }, string>({
      sleep,
      stalledMs: 1,
      choose: (waiting) => waiting,
      send: async (items) => {
        sent.push(items.map(({ name }) => name));
        return sent.length === 1 ? never : items.map(({ name }) => name);
      },
    });
    expect(gatherer.isIdle).toBe(true);
    gatherer.add({ name: "hangs" });
    await expect.poll(() => sent.length).toBe(1);
    expect(await Promise.all(["a", "b"].map((name) => gatherer.add({ name })))).toEqual(["a", "b"]);
    expect(sent).toEqual([["hangs"], ["a", "b"]]);
    expect(gatherer.isIdle).toBe(false);
  });

  it("waits for callers who arrive over several turns of the event loop, unless the last call had only one caller", async () => {
    const sent: string[][] = [];
    const gatherer = new Gatherer<{ readonly name: string }, string>({
      sleep,
      stalledMs: 10_000,
      choose: (waiting) => waiting,
      send: async (items) => {
        sent.push(items.map(({ name }) => name));
        return items.map(({ name }) => name);
      },
      turns: { next: () => sleep(0), nowMs: () => 0, fullAt: 64 },
    });
    const arrive = (names: readonly string[], arrival: (at: number) => Promise<void>) =>
      Promise.all(
        names.map(async (name, at) => {
          await arrival(at);
          return gatherer.add({ name });
        }),
      );
    const together = async () => {};
    const spread = async (at: number) => {
      for (let turn = 0; turn < at; turn++) await sleep(0);
    };
    await arrive(["a", "b", "c", "d"], spread);
    expect(sent[0]).toEqual(["a"]);
    await arrive(["e", "f"], together);
    sent.length = 0;
    await arrive(["a", "b", "c", "d"], spread);
    expect(sent).toEqual([["a", "b", "c", "d"]]);
  });

  it("does not wait for an overdue turn of the event loop once another caller arrives, or for any turn once a group is full", async () => {
    let nowMs = 0;
    const sent: number[][] = [];
    const gatherer = new Gatherer<{ readonly n: number }, number>({
      sleep,
      stalledMs: 10_000,
      choose: (waiting) => waiting,
      send: async (items) => {
        sent.push(items.map(({ n }) => n));
        return items.map(({ n }) => n);
      },
      turns: { next: () => never, nowMs: () => nowMs, fullAt: 4 },
    });
    const add = (n: number) => gatherer.add({ n });
    await Promise.all([add(1), add(2)]);
    const early = add(3);
    for (let step = 0; step < 1_000; step++) await undefined;
    expect(sent).toEqual([[1, 2]]);
    nowMs = 100;
    await Promise.all([early, add(4)]);
    expect(sent.at(-1)).toEqual([3, 4]);
    await Promise.all([add(5), add(6), add(7), add(8)]);
    expect(sent.at(-1)).toEqual([5, 6, 7, 8]);
  });
});

/** A manual clock. */
class Clock {
  nowMs = 0;
  readonly #timers = new Set<{ readonly atMs: number; readonly ring: () => void }>();
  readonly sleep: Sleep = (ms, cancellation) =>
    new Promise((resolve) => {
      const timer = { atMs: this.nowMs + ms, ring: resolve };
      this.#timers.add(timer);
      cancellation?.onCancel(() => {
        this.#timers.delete(timer);
        resolve();
      });
    });

  async move(ms: number): Promise<void> {
    this.nowMs += ms;
    for (const timer of this.#timers) if (timer.atMs <= this.nowMs && this.#timers.delete(timer)) timer.ring();
    await new Promise((turn) => setImmediate(turn));
  }
}

const OPERATION = {
  merchantId: "mer_00000000000000000000000001",
  operationId: "00000000000000000000000001",
} as const;

/**
 * Simulates callers who retry after a second if they are refused: `atOnce` callers at first, as after a stall, and then `aSecond` callers per second.
 * Returns the number of callers served in each second.
 */
async function serve(of: { readonly atOnce: number; readonly aSecond: number; readonly takesMs: number }) {
  const clock = new Clock();
  const groups = groupsOf(
    () => clock.sleep(of.takesMs),
    () => clock.nowMs,
    clock.sleep,
  );
  const served: number[] = [];
  let waiting = 0;
  const call = async () => {
    waiting += 1;
    for (let isServed = false; !isServed; ) {
      const read = groups.request(false).read([selectOperation(groups.db, OPERATION)]);
      isServed = await read.then(
        () => true,
        () => clock.sleep(1_000).then(() => false),
      );
    }
    waiting -= 1;
    served.push(Math.floor(clock.nowMs / 1_000));
  };
  for (let caller = 0; caller < of.atOnce; caller++) void call();
  for (let second = 0; second < 60; second++) {
    for (let caller = 0; caller < of.aSecond; caller++) void call();
    for (let part = 0; part < 50; part++) await clock.move(20);
  }
  return { served: Array.from({ length: 60 }, (_, second) => served.filter((at) => at === second).length), waiting };
}

describe("more callers than a group can answer", () => {
  it.each([
    { atOnce: 3_000, aSecond: 50, takesMs: 460 },
    { atOnce: 1_500, aSecond: 80, takesMs: 460 },
    { atOnce: 0, aSecond: 400, takesMs: 460 },
    { atOnce: 500, aSecond: 40, takesMs: 960 },
  ])("are answered at a rate close to the maximum: $atOnce at once, then $aSecond a second", async (of) => {
    const { served, waiting } = await serve(of);
    // The maximum per second: groups of 64 one after another. The clock moves in steps of 20 ms, which delays each group by up to 40 ms.
    const most = (64 * 1_000) / (of.takesMs + 40);
    const busy = served.slice(3, 20).reduce((sum, each) => sum + each, 0);
    expect(busy).toBeGreaterThan(0.75 * 17 * most);
    const isEnough = of.atOnce + 60 * of.aSecond < 55 * most;
    if (isEnough) expect(waiting).toBeLessThan(64 + 2 * of.aSecond);
  });
});

describe("a read", () => {
  const readers = (groups: ReturnType<typeof groupsOf>) => (n: number) => {
    const merchantId = "mer_00000000000000000000000001";
    const operationId = `0000000000000000000000000${n}`;
    return groups.request(false).read([selectOperation(groups.db, { merchantId, operationId })]);
  };

  it("waits for calls to another object, so that one read serves all requests that arrive meanwhile", async () => {
    let calls = 0;
    const groups = groupsOf(() => {
      calls += 1;
    });
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const asked = groups.request(false).ask("count", 1, async (items) => {
      await gate;
      return items;
    });
    const read = readers(groups);
    const found = Promise.all([1, 2, 3].map(read));
    for (let step = 0; step < 1_000; step++) await undefined;
    expect(calls).toBe(0);
    open();
    await Promise.all([asked, found]);
    expect(calls).toBe(1);
  });

  it("that has waited too long is refused, and does not delay later reads that can be answered soon enough", async () => {
    let nowMs = 0;
    let calls = 0;
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const onCall = async () => {
      calls += 1;
      if (calls === 1) await gate;
    };
    const groups = groupsOf(onCall, () => nowMs);
    const read = readers(groups);
    const first = read(1);
    await expect.poll(() => calls).toBe(1);
    const late = Promise.allSettled(Array.from({ length: 500 }, () => read(2)));
    await Promise.resolve();
    expect(groups.isBehind(false)).toBe(false);
    nowMs = 2_500;
    expect([groups.isBehind(false), groups.isBehind(true)]).toEqual([true, false]);
    const inTime = Promise.all(Array.from({ length: 64 }, () => read(3)));
    open();
    await Promise.all([first, inTime]);
    expect((await late).every(({ status }) => status === "rejected")).toBe(true);
    expect([calls, groups.isBehind(false)]).toEqual([2, false]);
  });

  it("does not wait for an object that does not answer", async () => {
    const groups = groupsOf();
    const asked = groups.request(false).ask("hangs", 1, () => new Promise<never>(() => {}));
    expect(await readers(groups)(1)).toEqual([[]]);
    await expect(asked).rejects.toThrow("no answer within");
  });
});
