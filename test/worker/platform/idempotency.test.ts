import { abortAllDurableObjects, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { derivedId, type MerchantId, makeId } from "../../../src/lib/ids.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { invoices, timelineItems } from "../../../src/platform/db/schema/invoices.ts";
import { assertions } from "../../../src/platform/db/schema/operations.ts";
import { LEASE_MS, REMEMBERED_MS } from "../../../src/platform/idempotency/key-reservations.ts";
import { type OnceAnswer, runOnce } from "../../../src/platform/idempotency/run-once.ts";
import {
  dependencies,
  freshMerchant,
  freshUlid,
  keyOf,
  keysOf,
  realDb,
  rowsOf,
  workOf,
} from "../../support/idempotency.ts";

describe("in one merchant's object,", () => {
  const stubOf = (merchantId: string) => env.MERCHANT_OBJECT.getByName(merchantId);

  it("a key is reserved once, and a different fingerprint is a conflict, whatever happened to the first request", async () => {
    const keys = keysOf(env.MERCHANT_OBJECT, freshMerchant());
    const first = await keys.reserve("k", "f", 1_000);
    expect(first).toEqual({ kind: "first", operationId: expect.stringMatching(/^[0-9A-Z]{26}$/), attempt: 1 });
    const operationId = first.kind === "first" ? first.operationId : "";
    expect(await keys.reserve("k", "f", 2_000)).toEqual({ kind: "known", operationId, leaseUntilMs: 1_000 + LEASE_MS });
    expect(await keys.reserve("k", "other", 2_000)).toEqual({ kind: "conflict" });
    await keys.endLease("k", operationId, 1);
    expect(await keys.reserve("k", "other", 2_000)).toEqual({ kind: "conflict" });
    expect(await keys.reserve("k", "f", 2_000)).toEqual({ kind: "known", operationId, leaseUntilMs: 0 });
  });

  it("a key is remembered for exactly 24 hours from its first use, even if its operation has not ended", async () => {
    const keys = keysOf(env.MERCHANT_OBJECT, freshMerchant());
    const first = await keys.reserve("k", "f", 5_000);
    const operationId = first.kind === "first" ? first.operationId : "";
    expect(await keys.reserve("k", "f", 5_000 + REMEMBERED_MS - 1)).toMatchObject({ kind: "known", operationId });
    expect(await keys.takeOver("k", operationId, 5_000 + REMEMBERED_MS - 1)).toEqual({ kind: "granted", attempt: 2 });
    expect(await keys.takeOver("k", operationId, 5_000 + REMEMBERED_MS)).toEqual({ kind: "gone" });
    const next = await keys.reserve("k", "other body", 5_000 + REMEMBERED_MS);
    expect(next).toMatchObject({ kind: "first", attempt: 1 });
    expect(next).not.toMatchObject({ operationId });
    expect(await keys.takeOver("k", operationId, 5_000 + REMEMBERED_MS)).toEqual({ kind: "gone" });
  });

  it("a lease is taken over only after its expiry, by exactly one of many callers; the old holder cannot end the new lease", async () => {
    const keys = keysOf(env.MERCHANT_OBJECT, freshMerchant());
    const first = await keys.reserve("k", "f", 0);
    const operationId = first.kind === "first" ? first.operationId : "";
    expect(await keys.takeOver("k", operationId, LEASE_MS - 1)).toEqual({ kind: "wait", leaseUntilMs: LEASE_MS });
    const asked = await Promise.all(Array.from({ length: 20 }, () => keys.takeOver("k", operationId, LEASE_MS)));
    expect(asked.filter((each) => each.kind === "granted")).toEqual([{ kind: "granted", attempt: 2 }]);
    await keys.endLease("k", operationId, 1);
    expect(await keys.takeOver("k", operationId, LEASE_MS)).toEqual({ kind: "wait", leaseUntilMs: 2 * LEASE_MS });
    await keys.endLease("k", operationId, 2);
    expect(await keys.takeOver("k", operationId, LEASE_MS)).toEqual({ kind: "granted", attempt: 3 });
    expect(await keys.takeOver("k", "another operation", 9 * LEASE_MS)).toEqual({ kind: "gone" });
  });

  it("reservations survive the loss of the object's memory between any two steps", async () => {
    const keys = keysOf(env.MERCHANT_OBJECT, freshMerchant());
    const first = await keys.reserve("k", "f", 0);
    const operationId = first.kind === "first" ? first.operationId : "";
    await abortAllDurableObjects();
    expect(await keys.reserve("k", "f", 1)).toEqual({ kind: "known", operationId, leaseUntilMs: LEASE_MS });
    await abortAllDurableObjects();
    expect(await keys.takeOver("k", operationId, LEASE_MS)).toEqual({ kind: "granted", attempt: 2 });
    await abortAllDurableObjects();
    await keys.endLease("k", operationId, 2);
    await abortAllDurableObjects();
    expect(await keys.reserve("k", "f", LEASE_MS)).toEqual({ kind: "known", operationId, leaseUntilMs: 0 });
  });

  it("the alarm survives an eviction, deletes only expired keys, and is reset while keys are left", async () => {
    const stub = stubOf(freshMerchant());
    const nowMs = Date.now();
    const longAgoMs = nowMs - REMEMBERED_MS - 2 * HOUR_MS;
    for (let i = 0; i < 1_200; i++) stub.reserve(`old ${i}`, "f", longAgoMs);
    await stub.reserve("fresh", "f", nowMs);
    const look = () =>
      runInDurableObject(stub, async (_, state) => ({
        keys: Number(state.storage.sql.exec("SELECT count(*) AS n FROM claims").one().n),
        alarmMs: await state.storage.getAlarm(),
      }));
    expect(await look()).toEqual({ keys: 1_201, alarmMs: expect.any(Number) });
    await evictDurableObject(stub);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    const half = await look();
    expect(half.keys).toBe(201);
    expect(half.alarmMs).toBeGreaterThan(nowMs);
    await evictDurableObject(stub);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect(await look()).toEqual({ keys: 1, alarmMs: expect.any(Number) });
    expect((await look()).alarmMs).toBeGreaterThan(nowMs + HOUR_MS - 60_000);
    expect(await stub.reserve("fresh", "f", nowMs + 1)).toMatchObject({ kind: "known" });
  });

  it("an object without keys has no alarm, and its next reservation sets one again", async () => {
    const stub = stubOf(freshMerchant());
    const alarm = () => runInDurableObject(stub, (_, state) => state.storage.getAlarm());
    expect(await alarm()).toBeNull();
    await stub.reserve("k", "f", Date.now() - REMEMBERED_MS - 2 * HOUR_MS);
    expect(await alarm()).not.toBeNull();
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect(await alarm()).toBeNull();
    await stub.reserve("k2", "f", Date.now());
    expect(await alarm()).toBeGreaterThan(Date.now() + REMEMBERED_MS);
  });
});

describe("running an operation once:", () => {
  it("200 requests with one key at once leave one row and get 200 identical responses", async () => {
    const merchantId = freshMerchant();
    const deps = dependencies(merchantId);
    const key = keyOf(merchantId, "one");
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => runOnce(deps, { merchantId, key }, workOf(deps.db, merchantId))),
    );
    const bodies = answers.map((answer) =>
      answer.kind === "answer" ? `${answer.status} ${answer.body}` : answer.kind,
    );
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]).toMatch(/^201 \{"id":"inv_/);
    expect(answers.filter((answer) => answer.kind === "answer" && !answer.isReplay)).toHaveLength(1);
    expect(await rowsOf(merchantId)).toEqual({ events: 1, operations: 1 });
  });

  it("a key with a different body is refused; the same key of another merchant is independent", async () => {
    const [a, b] = [freshMerchant(), freshMerchant()];
    const run = (merchantId: MerchantId, body: string) => {
      const deps = dependencies(merchantId);
      return runOnce(deps, { merchantId, key: keyOf(merchantId, "shared", body) }, workOf(deps.db, merchantId));
    };
    const first = await run(a, '{"n":1,"m":2}');
    expect(first).toMatchObject({ kind: "answer", isReplay: false });
    expect(await run(a, '{ "m": 2.0, "n": 1e0 }')).toEqual({ ...first, isReplay: true });
    expect(await run(a, '{"n":2}')).toEqual({ kind: "refused", failure: { code: "IDEMPOTENCY_KEY_REUSED" } });
    expect(await run(b, '{"n":2}')).toMatchObject({ kind: "answer", isReplay: false });
    expect(await rowsOf(a)).toEqual({ events: 1, operations: 1 });
    expect(await rowsOf(b)).toEqual({ events: 1, operations: 1 });
  });

  it("without a key every request runs", async () => {
    const merchantId = freshMerchant();
    const deps = dependencies(merchantId);
    for (let i = 0; i < 3; i++) {
      expect(await runOnce(deps, { merchantId, key: undefined }, workOf(deps.db, merchantId))).toMatchObject({
        isReplay: false,
      });
    }
    expect(await rowsOf(merchantId)).toEqual({ events: 3, operations: 3 });
  });

  it("a refusal is not stored: the same key continues with the same operation id", async () => {
    const merchantId = freshMerchant();
    const ended: Promise<void>[] = [];
    const deps = dependencies(merchantId, { background: (work) => ended.push(work) });
    const request = { merchantId, key: keyOf(merchantId, "refused first") };
    const seen: string[] = [];
    const refusal: OnceAnswer = { kind: "refused", failure: { code: "AMOUNTS_EXHAUSTED" } };
    expect(
      await runOnce(deps, request, async (operationId) => {
        seen.push(operationId);
        return refusal;
      }),
    ).toEqual(refusal);
    await Promise.all(ended);
    const answer = await runOnce(deps, request, (operationId) => {
      seen.push(operationId);
      return workOf(deps.db, merchantId)(operationId);
    });
    expect(answer).toMatchObject({ kind: "answer", isReplay: false });
    expect(seen).toHaveLength(2);
    expect(new Set(seen).size).toBe(1);
  });

  it("a request whose batch violates a constraint is decided again, with the constraint's name, at most five times", async () => {
    const merchantId = freshMerchant();
    const deps = dependencies(merchantId);
    const timelineItem = (operationId: string, n: number) =>
      deps.db.insert(timelineItems).values({
        id: derivedId("itl", operationId, n),
        invoiceId: makeId("inv", merchantId),
        position: 1,
        paymentStatus: "PAID",
        timeMs: 0,
      });
    await timelineItem(freshUlid(), 0);
    const conflicts: unknown[] = [];
    const answer = await runOnce(deps, { merchantId, key: undefined }, async (operationId, conflict, tries) => {
      conflicts.push(conflict);
      expect(tries).toBe(conflicts.length - 1);
      const statement =
        tries < 2 ? timelineItem(operationId, tries) : deps.db.insert(assertions).values({ name: "never", holds: 0 });
      return { kind: "ready", status: 201, body: "{}", statements: [statement] };
    });
    expect(answer).toEqual({ kind: "refused", failure: { code: "CONTENTION" } });
    const onPosition = { kind: "unique", table: "timeline_items", columns: ["invoice_id", "position"] };
    const onAssertion = { kind: "assertion" };
    expect(conflicts).toEqual([undefined, onPosition, onPosition, onAssertion, onAssertion]);
    expect(await rowsOf(merchantId)).toEqual({ events: 0, operations: 0 });
    expect(await realDb.select().from(assertions)).toEqual([]);
  });

  it("an operation is never replayed to another merchant", async () => {
    const [owner, other] = [freshMerchant(), freshMerchant()];
    const operationId = freshUlid();
    const run = (merchantId: MerchantId) => {
      const deps = dependencies(merchantId, { newOperationId: () => operationId });
      return runOnce(deps, { merchantId, key: undefined }, workOf(deps.db, merchantId));
    };
    expect(await run(owner)).toMatchObject({ kind: "answer" });
    await expect(run(other)).rejects.toThrow("no row of the operation");
  });

  it("a bug is thrown as an error whose message contains no bound value of the failed query", async () => {
    const merchantId = freshMerchant();
    const deps = dependencies(merchantId);
    const wrong = deps.db.insert(invoices).values({ id: "inv_secret", merchantId } as never);
    const answer = runOnce(deps, { merchantId, key: undefined }, async () => ({
      kind: "ready",
      status: 201,
      body: "{}",
      statements: [wrong],
    }));
    await expect(answer).rejects.toThrow("NOT NULL constraint failed");
    await expect(answer).rejects.not.toThrow("inv_secret");
  });
});
