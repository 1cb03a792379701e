// The Durable Object that allocates an address's amounts: its storage must outlive an instance, and its alarm releases amounts without a stored
// invoice.
import { abortAllDurableObjects, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { AmountAnswer, AmountRequest } from "../../../src/commerce/amounts/amount-request.ts";
import { UNPROVEN } from "../../../src/commerce/ranks/rank.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { amountsAt } from "../../support/amounts.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";
import { freshEvmAddress, USDC } from "./amounts-harness.ts";

const freshPlace = () => ({ ...USDC, address: freshEvmAddress() });
const ALONE = { rank: UNPROVEN, hasOthers: false, provenOthers: 0 };

/** An invoice that lasts an hour and is watched for another hour. */
function requestOf(invoiceId: InvoiceId, createdAtMs = Date.now()): AmountRequest {
  const times = { expiresAtMs: createdAtMs + HOUR_MS, monitorUntilMs: createdAtMs + 2 * HOUR_MS, nowMs: createdAtMs };
  const of = { merchantId: "mer_a", priceUnits: 25_000_000n, sharing: ALONE, isPublic: false };
  return { ...of, invoiceId, createdAtMs, ...times };
}

function unitsOf(answer: AmountAnswer | undefined): bigint {
  if (answer?.kind !== "given") throw new Error(`not given: ${answer?.refusal.code}`);
  return answer.units;
}

describe("an address's allocator", () => {
  it("gives parallel invoices their own amounts, and repeats them after an eviction and an abort", async () => {
    const place = freshPlace();
    const ids = Array.from({ length: 90 }, () => freshId("inv"));
    const ask = async (some: readonly InvoiceId[]) => {
      const answers = await Promise.all(some.map(async (id) => await amountsAt(place).allocate([requestOf(id)])));
      return answers.map(([answer]) => unitsOf(answer));
    };
    const before = await ask(ids.slice(0, 30));
    await evictDurableObject(amountsAt(place));
    const between = await ask(ids.slice(30, 60));
    await abortAllDurableObjects();
    const after = await ask(ids.slice(60));
    const all = [...before, ...between, ...after];
    expect(new Set(all).size).toBe(90);
    await evictDurableObject(amountsAt(place));
    expect(await ask(ids)).toEqual(all);
  });

  it("answers a list of requests in order, and refuses one without refusing the others", async () => {
    const place = freshPlace();
    // A price of 200 units has two candidate amounts.
    const ids = Array.from({ length: 3 }, () => freshId("inv"));
    const tiny = ids.map((id) => ({ ...requestOf(id), priceUnits: 200n }));
    const other = requestOf(freshId("inv"));
    const answers = await amountsAt(place).allocate([...tiny, other]);
    expect(answers).toMatchObject([
      { units: 200n },
      { units: 199n },
      { kind: "refused", refusal: { code: "AMOUNTS_EXHAUSTED" } },
      { units: 25_000_000n },
    ]);
  });

  it("releases no amount before its hold ends, no matter who asks", async () => {
    const place = freshPlace();
    const invoiceId = freshId("inv");
    const [given] = await amountsAt(place).allocate([requestOf(invoiceId)]);
    const amount = { invoiceId, units: unitsOf(given) };
    expect(await amountsAt(place).release([amount], Date.now() + HOUR_MS)).toEqual([false]);
    const [next] = await amountsAt(place).allocate([requestOf(freshId("inv"))]);
    expect(unitsOf(next)).not.toBe(amount.units);
    expect(await amountsAt(place).release([amount], Date.now() + 3 * HOUR_MS)).toEqual([true]);
    const [again] = await amountsAt(place).allocate([requestOf(freshId("inv"))]);
    expect(unitsOf(again)).toBe(amount.units);
  });
});

describe("the alarm of an address's allocator", () => {
  it("releases amounts that have no row or a released row, even after an eviction, but no amount that is active or held", async () => {
    const place = freshPlace();
    const longAgo = Date.now() - DAY_MS;
    const [lost, released, standing] = [freshId("inv"), freshId("inv"), freshId("inv")];
    const recent = freshId("inv");
    const asked = [lost, released, standing].map((id) => requestOf(id, longAgo));
    const answers = await amountsAt(place).allocate([...asked, requestOf(recent)]);
    const units = answers.map(unitsOf);
    const rowOf = (invoiceId: InvoiceId, n: number, releasedAtMs: number | null) => ({
      ...place,
      invoiceId,
      releasedAtMs,
      units: units[n] ?? 0n,
      merchantId: freshId("mer"),
      rank: UNPROVEN,
      priceUnits: 25_000_000n,
      createdAtMs: longAgo,
      openUntilMs: longAgo + HOUR_MS,
      heldUntilMs: longAgo + 2 * HOUR_MS,
      releaseAfterMs: longAgo + 2 * HOUR_MS,
    });
    await testDb.insert(methodAmounts).values([rowOf(released, 1, longAgo + 3 * HOUR_MS), rowOf(standing, 2, null)]);
    await evictDurableObject(amountsAt(place));
    expect(await runDurableObjectAlarm(amountsAt(place))).toBe(true);
    const next = await amountsAt(place).allocate([1, 2, 3].map(() => requestOf(freshId("inv"))));
    expect(next.map(unitsOf).slice(0, 2)).toEqual(units.slice(0, 2));
    expect(units).not.toContain(next.map(unitsOf)[2]);
    // The alarm is set again as long as any amount is held.
    expect(await runDurableObjectAlarm(amountsAt(place))).toBe(true);
  });

  it("stops counting an amount without an invoice towards strangers' limits after ten minutes", async () => {
    const place = freshPlace();
    const strange = { sharing: { ...ALONE, hasOthers: true } };
    const eight = (createdAtMs: number) =>
      Array.from({ length: 8 }, () => ({ ...requestOf(freshId("inv"), createdAtMs), ...strange }));
    const kinds = async (asked: readonly AmountRequest[]) =>
      (await amountsAt(place).allocate(asked)).map(({ kind }) => kind);
    const [given, refused] = [Array(8).fill("given"), Array(8).fill("refused")];
    expect(await kinds(eight(Date.now() - 11 * MINUTE_MS))).toEqual(given);
    expect(await kinds(eight(Date.now()))).toEqual(refused);
    await runDurableObjectAlarm(amountsAt(place));
    expect(await kinds(eight(Date.now()))).toEqual(given);
    expect(await kinds(eight(Date.now()))).toEqual(refused);
    // These amounts were reserved just now, so the alarm does not release them.
    await runDurableObjectAlarm(amountsAt(place));
    expect(await kinds(eight(Date.now()))).toEqual(refused);
    const held = await runInDurableObject(amountsAt(place), (_, { storage }) =>
      storage.sql.exec("SELECT count(DISTINCT units) AS held FROM amounts").one(),
    );
    expect(held).toEqual({ held: 16 });
  });

  it("is not postponed by the first request after an eviction", async () => {
    const place = freshPlace();
    const alarmMs = () => runInDurableObject(amountsAt(place), (_, { storage }) => storage.getAlarm());
    await amountsAt(place).allocate([requestOf(freshId("inv"), Date.now() - DAY_MS)]);
    const setMs = await alarmMs();
    await runInDurableObject(amountsAt(place), (_, { storage }) => storage.setAlarm((setMs ?? 0) - MINUTE_MS));
    await evictDurableObject(amountsAt(place));
    await amountsAt(place).allocate([requestOf(freshId("inv"))]);
    expect(await alarmMs()).toBe((setMs ?? 0) - MINUTE_MS);
  });

  it("is removed once no amount is left", async () => {
    const place = freshPlace();
    await amountsAt(place).allocate([requestOf(freshId("inv"), Date.now() - DAY_MS)]);
    expect(await runDurableObjectAlarm(amountsAt(place))).toBe(true);
    expect(await runDurableObjectAlarm(amountsAt(place))).toBe(false);
  });
});
