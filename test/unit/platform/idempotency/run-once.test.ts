import { describe, expect, it } from "vitest";
import { derivedId, type MerchantId } from "../../../../src/lib/ids.ts";
import { events } from "../../../../src/platform/db/schema/events.ts";
import { KeyReservations } from "../../../../src/platform/idempotency/key-reservations.ts";
import { type OnceDependencies, type Prepared, runOnce } from "../../../../src/platform/idempotency/run-once.ts";
import type { Lab } from "../../../simulation/engine/lab.ts";
import type { Effect } from "../../../simulation/engine/sqlite-d1.ts";
import type { Client, World } from "../../../simulation/engine/world.ts";
import { inScriptedWorld, type Script } from "../../../support/scripted-world.ts";

const MERCHANT: MerchantId = "mer_00000000000000000000000000";
const REQUEST = { merchantId: MERCHANT, key: { hash: "h", fingerprint: "f" } };
const UNAVAILABLE = { kind: "refused", failure: { code: "STORAGE_UNAVAILABLE" } };
const REFUSED = { kind: "refused", failure: { code: "AMOUNTS_EXHAUSTED" } } as const;

type Given = { effect: Effect; client: Client; world: World; lab: Lab };

function reservationsOf({ lab, world }: Given): KeyReservations {
  return lab.object("keys", (storage) => new KeyReservations(storage, () => world.newUlid()));
}

function effectsOf(given: Given): OnceDependencies {
  const { effect, client, world, lab } = given;
  const reservations = reservationsOf(given);
  return {
    db: lab.db(effect),
    keys: {
      reserve: (...args) => effect("reserve", () => reservations.reserve(...args)),
      takeOver: (...args) => effect("take over", () => reservations.takeOver(...args)),
      endLease: (...args) => effect("end lease", () => reservations.endLease(...args)),
    },
    nowMs: () => world.nowMs,
    sleep: world.sleepOf(client),
    background: () => {},
    newOperationId: () => world.newUlid(),
  };
}

function ready(deps: OnceDependencies, operationId: string, body = "the answer"): Prepared {
  const event = deps.db.insert(events).values({
    id: derivedId("evt", operationId),
    merchantId: MERCHANT,
    type: "invoice.created",
    data: body,
    createdAtMs: 0,
  });
  return { kind: "ready", status: 201, body, statements: [event] };
}

async function once(script: Script, prepare = ready) {
  const { result, seen, elapsedMs, lab } = await inScriptedWorld(script, async (given) => {
    const deps = effectsOf(given);
    return runOnce(deps, REQUEST, async (operationId) => prepare(deps, operationId));
  });
  return { result, seen, elapsedMs, events: lab.rows("SELECT * FROM events").length };
}

describe("a batch whose answer is lost", () => {
  it("is sent again, finds its own result, and returns it like a first response", async () => {
    const run = await once({ "d1 write": ["answer lost"] });
    expect(run.result).toEqual({ kind: "answer", status: 201, body: "the answer", isReplay: false });
    expect(run).toMatchObject({ seen: { "d1 write": 2, "d1 read": 1 }, events: 1 });
  });

  it("is sent again and committed if it was never executed", async () => {
    const run = await once({ "d1 write": ["lost before", "hangs"] });
    expect(run).toMatchObject({ result: { kind: "answer", isReplay: false }, seen: { "d1 write": 3 }, events: 1 });
  });

  it("three times is looked up by the id of its operation", async () => {
    const run = await once({ "d1 write": ["answer lost", "hangs", "hangs"] });
    expect(run).toMatchObject({
      result: { kind: "answer", isReplay: false },
      seen: { "d1 write": 3, "d1 read": 1 },
      events: 1,
    });
  });

  it("and whose result cannot be found leads to a 503, and the lease remains", async () => {
    const run = await once({ "d1 write": ["lands late", "hangs", "hangs"] });
    expect(run).toMatchObject({ result: UNAVAILABLE, events: 1 });
    expect(run.seen["end lease"]).toBeUndefined();
  });

  it("turns a later refusal into a 503, because the batch may still commit", async () => {
    const run = await inScriptedWorld({ "d1 write": ["lands late"] }, async (given) => {
      const deps = effectsOf(given);
      await given.lab
        .db((_, work) => Promise.resolve(work()))
        .insert(events)
        .values({
          id: "evt_taken",
          merchantId: MERCHANT,
          type: "x",
          data: "",
          createdAtMs: 0,
        });
      return runOnce(deps, REQUEST, async (operationId, conflict) => {
        if (conflict !== undefined) return REFUSED;
        const taken = deps.db
          .insert(events)
          .values({ id: "evt_taken", merchantId: MERCHANT, type: operationId, data: "", createdAtMs: 0 });
        return { kind: "ready", status: 201, body: "", statements: [taken] };
      });
    });
    expect(run.result).toEqual(UNAVAILABLE);
    expect(run.seen["end lease"]).toBeUndefined();
  });

  it("is looked up when the database rejects the repeated batch, and the response is what was committed", async () => {
    const run = await once({ "d1 write": ["answer lost", "overloaded"] });
    expect(run).toMatchObject({
      result: { kind: "answer", status: 201, body: "the answer", isReplay: false },
      seen: { "d1 write": 2, "d1 read": 1 },
      events: 1,
    });
  });

  it.each([
    ["only loses against other writers", ["lands late"]],
    ["loses once and is then rejected", ["lands late", "happens", "overloaded"]],
  ] as const)("and that later %s leads to a 503, and the lease remains", async (_, fates) => {
    const run = await inScriptedWorld({ "d1 write": [...fates] }, async (given) => {
      const deps = effectsOf(given);
      const row = { id: "evt_taken", merchantId: MERCHANT, type: "x", data: "", createdAtMs: 0 } as const;
      await given.lab
        .db((_, work) => Promise.resolve(work()))
        .insert(events)
        .values(row);
      return runOnce(deps, REQUEST, async () => {
        return { kind: "ready", status: 201, body: "", statements: [deps.db.insert(events).values(row)] };
      });
    });
    expect(run.result).toEqual(UNAVAILABLE);
    expect(run.seen["end lease"]).toBeUndefined();
  });
});

describe("a batch that overloaded storage rejects", () => {
  it("is not sent again, and the lease ends because nothing was written", async () => {
    const run = await once({ "d1 write": ["overloaded"] });
    expect(run).toMatchObject({ result: UNAVAILABLE, seen: { "d1 write": 1, "end lease": 1 }, events: 0 });
  });

  it("after an attempt that may have committed does not end the lease", async () => {
    const run = await once({ "d1 write": ["lands late", "overloaded"] });
    expect(run).toMatchObject({ result: UNAVAILABLE, seen: { "d1 write": 2 }, events: 1 });
    expect(run.seen["end lease"]).toBeUndefined();
  });
});

describe("a second request with the key of a running one", () => {
  const follow = (
    meanwhile: (given: Given, operationId: string, deps: OnceDependencies) => Promise<unknown>,
    waitMs = 0,
  ) =>
    inScriptedWorld({}, async (given) => {
      const deps = effectsOf(given);
      const reservation = reservationsOf(given).reserve("h", "f", deps.nowMs());
      const operationId = reservation.kind === "first" ? reservation.operationId : "";
      const startMs = deps.nowMs();
      const first = given.world
        .sleepOf(given.client)(waitMs)
        .then(() => meanwhile(given, operationId, deps));
      const answer = await runOnce(deps, REQUEST, async (id) => ready(deps, id, "from the second"));
      const waitedMs = deps.nowMs() - startMs;
      await first;
      return { answer, waitedMs };
    });

  it("waits for the first one, and replays its response", async () => {
    const run = await follow(
      (_, operationId, deps) =>
        runOnce({ ...deps, newOperationId: () => operationId }, { ...REQUEST, key: undefined }, async (id) =>
          ready(deps, id),
        ),
      1_000,
    );
    expect(run.result.answer).toEqual({ kind: "answer", status: 201, body: "the answer", isReplay: true });
    expect(run.result.waitedMs).toBeLessThan(2_500);
  });

  it("gives up after ten seconds with a 503 that says when the lease ends", async () => {
    const run = await follow(async () => {});
    expect(run.result).toEqual({
      answer: { kind: "refused", failure: { code: "OPERATION_IN_PROGRESS", retryAfterSeconds: 20 } },
      waitedMs: 10_000,
    });
  });

  it("takes over as soon as the first one has been refused", async () => {
    const run = await follow(async (given, operationId) => reservationsOf(given).endLease("h", operationId, 1), 1_000);
    expect(run.result.answer).toMatchObject({ kind: "answer", body: "from the second", isReplay: false });
    expect(run.result.waitedMs).toBeLessThan(2_500);
  });
});

describe("work that fails", () => {
  it("because of a storage fault leads to a 503 and ends the lease", async () => {
    const run = await once({}, () => {
      throw new Error("Network connection lost.");
    });
    expect(run).toMatchObject({ result: UNAVAILABLE, seen: { "end lease": 1 } });
  });

  it("because of a bug throws the error and ends the lease", async () => {
    const ended: string[] = [];
    const bug = inScriptedWorld({}, async (given) => {
      const deps = effectsOf(given);
      const keys = { ...deps.keys, endLease: async (_: string, operationId: string) => void ended.push(operationId) };
      return runOnce({ ...deps, keys }, REQUEST, async () => {
        throw new TypeError("a bug");
      });
    });
    await expect(bug).rejects.toThrow("a bug");
    expect(ended).toHaveLength(1);
  });
});

describe("the `afterwards` of a batch", () => {
  async function followed(script: Script, requests = 1) {
    let times = 0;
    const run = await inScriptedWorld(script, async (given) => {
      const deps = effectsOf(given);
      const answers: Awaited<ReturnType<typeof runOnce>>["kind"][] = [];
      for (let n = 0; n < requests; n++) {
        const answer = await runOnce(deps, REQUEST, async (operationId) => ({
          ...ready(deps, operationId),
          afterwards: async () => void times++,
        }));
        answers.push(answer.kind);
      }
      return answers;
    });
    return [times, ...run.result];
  }

  it.each<[string, Script, number, readonly unknown[]]>([
    ["once it is committed", {}, 1, [1, "answer"]],
    ["not again for a replay", {}, 3, [1, "answer", "answer", "answer"]],
    ["when its answer was lost and it is found to be committed", { "d1 write": ["answer lost"] }, 1, [1, "answer"]],
    [
      "when all its answers were lost and it is found to be committed",
      { "d1 write": ["answer lost", "hangs", "hangs"] },
      1,
      [1, "answer"],
    ],
    ["never when it is not known to be committed", { "d1 write": ["lands late", "hangs", "hangs"] }, 1, [0, "refused"]],
    ["never when it was rejected", { "d1 write": ["overloaded"] }, 1, [0, "refused"]],
  ])("runs %s", async (_, script, requests, wanted) => {
    expect(await followed(script, requests)).toEqual(wanted);
  });
});

describe("a response that contains a secret", () => {
  it("is stored sealed and replayed in plain text", async () => {
    const run = await inScriptedWorld({}, async (given) => {
      const deps: OnceDependencies = {
        ...effectsOf(given),
        seal: async (body) => `sealed:${body}`,
        open: async (stored) => stored.slice("sealed:".length),
      };
      const work = async (operationId: string) => ready(deps, operationId);
      return [await runOnce(deps, REQUEST, work), await runOnce(deps, REQUEST, work)];
    });
    expect(run.result.map((answer) => (answer.kind === "answer" ? answer.body : ""))).toEqual([
      "the answer",
      "the answer",
    ]);
    expect(run.lab.rows("SELECT body FROM operations")).toEqual([{ body: "sealed:the answer" }]);
  });
});
