// The job that releases each amount first at its allocator, then in D1.
import { beforeEach, describe, expect, it } from "vitest";
import { type ReleaseDependencies, releaseAmounts } from "../../../src/commerce/amounts/release-amounts.ts";
import { noteRelease, selectDueAmounts, selectStanding, shortenAmounts } from "../../../src/commerce/amounts/store.ts";
import { UNPROVEN } from "../../../src/commerce/ranks/rank.ts";
import { selectExactAmounts } from "../../../src/detection/matching/store.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { planOf } from "../../support/query-plan.ts";
import { watchMethod } from "../../support/watched.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";

const NOW = 1_800_000_000_000;
const USDT = { network: "ETH", cryptocurrency: "USDT" };

beforeEach(async () => {
  await testDb.delete(methodAmounts);
});

/** An amount of an invoice that ended an hour ago. */
async function dueAt(address: string, network = USDT.network): Promise<InvoiceId> {
  const merchantId = freshId("mer");
  const of = { ...USDT, address, network };
  const invoiceId = await watchMethod(testDb, { ...of, nowMs: NOW - 3 * HOUR_MS, merchantId, status: "EXPIRED" });
  const ends = { openUntilMs: NOW - 2 * HOUR_MS, heldUntilMs: NOW - HOUR_MS, releaseAfterMs: NOW - HOUR_MS };
  const amount = { units: 10n, priceUnits: 10n, rank: UNPROVEN, createdAtMs: NOW - 3 * HOUR_MS };
  await testDb.insert(methodAmounts).values({ ...of, ...amount, ...ends, invoiceId, merchantId });
  await testDb.delete(networkCursors);
  return invoiceId;
}

const run = (answer: ReleaseDependencies["releaseAmounts"], nowMs = NOW) =>
  releaseAmounts({ db: testDb, nowMs, releaseAmounts: answer });
const yes: ReleaseDependencies["releaseAmounts"] = async (_, amounts) => amounts.map(() => true);
const rows = async () =>
  new Map((await testDb.select().from(methodAmounts)).map((row) => [row.invoiceId, row] as const));

describe("an amount whose hold has ended", () => {
  it("is released at its allocator and afterwards marked as released, and its row is kept", async () => {
    const id = await dueAt("0x01");
    const asked: unknown[] = [];
    const left = await run(async (place, amounts, nowMs) => {
      asked.push(place.address, amounts, nowMs, (await rows()).get(id)?.releasedAtMs);
      return [true];
    });
    expect(asked).toEqual(["0x01", [{ invoiceId: id, units: 10n }], NOW, null]);
    expect([left, (await rows()).get(id)?.releasedAtMs]).toEqual(["nothing", NOW]);
  });

  it("is released by a second attempt after ten minutes if its allocator failed or did not release it, without delaying other addresses", async () => {
    const [failed, kept, freed] = [await dueAt("0x01"), await dueAt("0x02"), await dueAt("0x03")];
    await run(async (place, amounts) => {
      if (place.address === "0x01") throw new Error("no answer within 3000 ms");
      return amounts.map(() => place.address === "0x03");
    });
    const after = await rows();
    expect([failed, kept, freed].map((id) => after.get(id)?.releasedAtMs)).toEqual([null, null, NOW]);
    const later = [9 * MINUTE_MS, 11 * MINUTE_MS];
    const counts: number[] = [];
    for (const ms of later) {
      await run(yes, NOW + ms);
      counts.push([...(await rows()).values()].filter(({ releasedAtMs }) => releasedAtMs !== null).length);
    }
    expect(counts).toEqual([1, 3]);
  });

  it("is released even if many other amounts wait for a network that is stuck", async () => {
    const stuck = await Promise.all(Array.from({ length: 3 }, (_, n) => dueAt(`0x0${n}`)));
    const freed = await dueAt("0x09", "POL");
    const sinceMs = NOW - 3 * HOUR_MS;
    const blank = { isResting: false, sinceMs, lastMovedAtMs: sinceMs, checkpoints: "[]" } as const;
    await testDb.insert(networkCursors).values([
      { ...blank, network: "ETH", passedMs: NOW - HOUR_MS },
      { ...blank, network: "POL", passedMs: NOW },
    ]);
    const due = async () => (await selectDueAmounts(testDb, NOW, 1)).map(({ invoiceId }) => invoiceId);
    expect(await due()).toEqual([freed]);
    await run(yes);
    expect(await due()).toEqual([]);
    await testDb.update(networkCursors).set({ passedMs: NOW - HOUR_MS + 1 });
    expect(stuck).toContain((await due())[0]);
    await testDb.update(networkCursors).set({ passedMs: sinceMs, isResting: true });
    expect(stuck).toContain((await due())[0]);
  });

  it("is not marked as released if the invoice reserved it again during the release", async () => {
    const id = await dueAt("0x01");
    await run(async () => {
      await testDb.update(methodAmounts).set({ releaseAfterMs: NOW + HOUR_MS, heldUntilMs: NOW + HOUR_MS });
      return [true];
    });
    expect((await rows()).get(id)).toMatchObject({ releasedAtMs: null, releaseAfterMs: NOW + HOUR_MS });
  });

  it("is found through an index; so are its row, the invoices with exactly that amount, and a cancelled invoice's amounts", async () => {
    const place = { ...USDT, address: "0x01" };
    const due = { ...place, units: 10n, invoiceId: freshId("inv"), releaseAfterMs: NOW };
    const plans = [
      await planOf(selectDueAmounts(testDb, NOW, 10)),
      await planOf(noteRelease(testDb, [due], { releasedAtMs: NOW, releaseAfterMs: null })),
      await planOf(selectStanding(testDb, place, [due])),
      await planOf(selectExactAmounts(testDb, "ETH", [due])),
      await planOf(shortenAmounts(testDb, due.invoiceId, NOW)),
    ];
    const one =
      /SEARCH held USING PRIMARY KEY \(network=\? AND cryptocurrency=\? AND address=\? AND invoice_id=\? AND units=\?/;
    expect(plans[0]).toMatch(/SEARCH due USING INDEX method_amounts_due \(network=\? AND release_after_ms<\?\)/);
    expect(plans[0]).toMatch(/SEARCH cursor USING INDEX sqlite_autoindex_network_cursors_1 \(network=\?\)/);
    expect(plans[1]).toMatch(one);
    expect(plans[2]).toMatch(one);
    expect(plans[3]).toMatch(/SEARCH held USING INDEX method_amounts_amount \(.*rank=\? AND <expr>=\? AND units=\?\)/);
    expect(plans[4]).toMatch(/SEARCH method USING INDEX sqlite_autoindex_payment_methods_1 \(invoice_id=\?\)/);
    expect(plans[4]).toMatch(
      /SEARCH held USING PRIMARY KEY \(network=\? AND cryptocurrency=\? AND address=\? AND invoice_id=\?\)/,
    );
    for (const plan of plans) expect(plan).not.toMatch(/SCAN (held|due|method|method_amounts|done|cursor|stuck)\b/);
  });
});
