// The sweep reads exactly the invoices that time alone changes: the SQL query and the rule in `settle` must agree on every invoice, so that waiting
// invoices never take the turn of others. An invoice that waits for its network may be released only by that network's cursor.
import { eq, isNull } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { NETWORKS } from "../../../src/chains/registry/networks.ts";
import { fileOf } from "../../../src/commerce/invoice-records/invoice.ts";
import { selectInvoiceRow, updateInvoice } from "../../../src/commerce/invoice-records/store.ts";
import { selectDueInTurn, selectDueInvoices } from "../../../src/commerce/invoices/due/store.ts";
import { reorgWindowMs, settlementChange } from "../../../src/commerce/invoices/settle-invoice.ts";
import { putPayment } from "../../../src/commerce/payments/store.ts";
import { UNPROVEN } from "../../../src/commerce/ranks/rank.ts";
import { ASLEEP_AFTER_MS, STALLED_AFTER_MS } from "../../../src/commerce/settlement/closing.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { release } from "../../support/amounts.ts";
import { planOf } from "../../support/query-plan.ts";
import { randomFrom } from "../../support/random.ts";
import { openPayment, watchMethod } from "../../support/watched.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";

const START = 1_800_000_000_000;
const HOUR = 3_600_000;
/** The `passed`, `moved` and `ticked` times of each network's cursor, before and after the clock advances. A resting cursor is treated as missing. */
const CURSORS = {
  ETH: { resting: false, passed: [0, 2 * HOUR], moved: [0, 2 * HOUR], ticked: [0, null] },
  POL: { resting: false, passed: [0, 0], moved: [0, 0], ticked: [0, 7 * HOUR] },
  BNB: {
    resting: false,
    passed: [0, HOUR],
    moved: [0, STALLED_AFTER_MS],
    ticked: [0, 99 * HOUR - ASLEEP_AFTER_MS + 1],
  },
  CRO: { resting: true, passed: [0, 0], moved: [0, 0], ticked: [0, 0] },
} as const;
const TOKEN = { ETH: "USDT", POL: "USDT", BNB: "USDT", CRO: "USDC", TRX: "USDT" } as const;
const reorgWindows = JSON.stringify(Object.fromEntries(NETWORKS.map((each) => [each.name, reorgWindowMs(each)])));

beforeEach(async () => {
  await testDb.batch([testDb.delete(networkCursors), testDb.delete(invoices), testDb.delete(methodAmounts)]);
});

async function putCursors(when: 0 | 1): Promise<void> {
  await testDb.delete(networkCursors);
  for (const [network, { resting, passed, moved, ticked }] of Object.entries(CURSORS)) {
    const at = ticked[when];
    const tickedAtMs = at === null ? null : START + at;
    const of = { network, tickedAtMs, isResting: resting, sinceMs: START, checkpoints: "[]", height: 1, hash: "h" };
    await testDb
      .insert(networkCursors)
      .values({ ...of, passedMs: START + passed[when], lastMovedAtMs: START + moved[when] });
  }
}

const fileAt = async (id: InvoiceId) => {
  const [row] = await testDb.select().from(invoices).where(eq(invoices.id, id));
  const [found] = await selectInvoiceRow(testDb, row?.merchantId ?? "", id);
  if (found === undefined) throw new Error(id);
  return fileOf(found);
};

/** Settles an invoice at a time and stores the result. */
async function settleAt(id: InvoiceId, nowMs: number): Promise<void> {
  const file = await fileAt(id);
  const change = settlementChange(file, nowMs);
  if (change === undefined) return;
  await batch(testDb, updateInvoice(testDb, file.invoice, { ...change.columns, updatedAtMs: nowMs }));
  for (const payment of change.payments ?? []) await putPayment(testDb, payment);
}

const dueAt = async (nowMs: number) =>
  (await selectDueInvoices(testDb, nowMs, { order: "oldest", limit: 1_000, reorgWindows })).map(({ id }) => id);

const dueInTurnAt = async (nowMs: number) => {
  const rows = await selectDueInTurn(testDb, nowMs, { merchants: 1_000, ofEach: 10, reorgWindows });
  return rows.flatMap(({ ids }): InvoiceId[] => JSON.parse(ids));
};

describe("the query for due invoices", () => {
  it("finds an invoice if and only if time alone changes its state, for 150 invoices with any cursors and payments", async () => {
    const random = randomFrom(7);
    const draw = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
    await putCursors(0);
    const ids: InvoiceId[] = [];
    for (let n = 0; n < 150; n++) {
      const network = draw(["ETH", "POL", "BNB", "CRO", "TRX"] as const);
      const address = `0x${n.toString(16).padStart(40, "0")}`;
      const expiresAtMs = START + draw([HOUR / 2, HOUR, 3 * HOUR, 30 * HOUR]);
      const cryptocurrency = TOKEN[network];
      const id = await watchMethod(testDb, { network, cryptocurrency, address, nowMs: START, expiresAtMs });
      if (random() < 0.3) await testDb.update(invoices).set({ latePaymentPolicy: "ACCEPT" }).where(eq(invoices.id, id));
      const lateGraceUntilMs = draw([null, null, expiresAtMs + 1]);
      await testDb.update(invoices).set({ lateGraceUntilMs }).where(eq(invoices.id, id));
      for (let paid = 0; paid < draw([0, 0, 1, 1, 2]); paid++) {
        const status = draw(["DETECTED", "CONFIRMED", "REORGED", "DROPPED"] as const);
        const of = { network, cryptocurrency, txHash: `${n}.${paid}`, toAddress: address, createdAtMs: START };
        await openPayment(testDb, {
          ...of,
          invoiceId: id,
          status,
          amountUnits: draw([3_000_000n, 10_000_000n]),
          receivedAtMs: draw([START, expiresAtMs, expiresAtMs + 1, expiresAtMs + 200 * HOUR]),
          reorgedAtMs: status === "REORGED" ? START + draw([0, 7 * HOUR]) : null,
        });
      }
      await settleAt(id, START + draw([0, 4 * HOUR]));
      ids.push(id);
    }
    await putCursors(1);
    for (const nowMs of [4 * HOUR, 6 * HOUR, 7 * HOUR, 7 * HOUR + 400_000, 9 * HOUR, 99 * HOUR].map(
      (ms) => START + ms,
    )) {
      const moved: InvoiceId[] = [];
      for (const id of ids) if (settlementChange(await fileAt(id), nowMs) !== undefined) moved.push(id);
      expect((await dueAt(nowMs)).toSorted()).toEqual(moved.toSorted());
      expect((await dueInTurnAt(nowMs)).toSorted()).toEqual(moved.toSorted());
      expect(moved.length).toBeGreaterThan(10);
    }
  });

  it("uses the index of active invoices", async () => {
    const details = await planOf(selectDueInvoices(testDb, START, { order: "oldest", limit: 10, reorgWindows }));
    expect(details).toMatch(/SEARCH invoices USING INDEX invoices_due \(expires_at_ms</);
  });

  it("uses an index by merchant when it takes turns among merchants", async () => {
    const details = await planOf(selectDueInTurn(testDb, START, { merchants: 10, ofEach: 10, reorgWindows }));
    expect(details).toContain("SEARCH invoices USING INDEX invoices_due_of_merchant (merchant_id>?)");
    expect(details).toContain(
      "SEARCH invoices USING INDEX invoices_due_of_merchant (merchant_id=? AND expires_at_ms<?)",
    );
    expect(details).not.toMatch(/SCAN (invoices|method|paid|failed|cursor)/);
  });
});

describe("a held amount", () => {
  it.each([
    ["released once the cursor is past its end", { passedMs: START + 1, isResting: false }, 0],
    ["kept while the cursor is exactly at its end", { passedMs: START, isResting: false }, 1],
    ["released with an idle cursor", { passedMs: START - 1, isResting: true }, 0],
    ["released without a cursor", undefined, 0],
  ])("is %s", async (_, cursor, left) => {
    const merchantId = freshId("mer");
    const at = { network: "ETH", cryptocurrency: "USDT", address: "0x01" };
    const id = await watchMethod(testDb, { ...at, nowMs: START - HOUR, merchantId, status: "EXPIRED" });
    await testDb.delete(networkCursors);
    if (cursor !== undefined) {
      const of = { network: "ETH", sinceMs: START - HOUR, checkpoints: "[]", lastMovedAtMs: START };
      await testDb.insert(networkCursors).values({ ...of, ...cursor });
    }
    const units = { units: 10n, priceUnits: 10n, rank: UNPROVEN, openUntilMs: START, releaseAfterMs: START };
    const held = { ...at, ...units, invoiceId: id, merchantId, heldUntilMs: START, createdAtMs: START - HOUR };
    await testDb.insert(methodAmounts).values(held);
    await release(START + HOUR);
    expect(await testDb.$count(methodAmounts, isNull(methodAmounts.releasedAtMs))).toBe(left);
  });
});
