// Injects one fault at a time into each storage call that applying an observation makes. The observation must then commit or report a failure, and
// applying it again must leave the same state as without the fault.
import { expect, it } from "vitest";
import type { Network } from "../../../src/chains/registry/networks.ts";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import type { ChainObservation } from "../../../src/commerce/payments/chain-observation.ts";
import { applyTransfers, type Findings } from "../../../src/detection/matching/apply-transfers.ts";
import { selectAddressOwners } from "../../../src/detection/matching/store.ts";
import { makeId, newUlid } from "../../../src/lib/ids.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { network } from "../../support/named-network.ts";
import { randomFrom } from "../../support/random.ts";
import type { Effect } from "../engine/sqlite-d1.ts";
import { ReorgShop, SHARED_ADDRESS, START_MS, shopDependencies, type TreeInvoice } from "./reorg-shop.ts";

const ETH: Network = network("ETH");
const BLOCK_MS = 12_000;

function invoiceOf(n: number, units: bigint): TreeInvoice {
  return {
    id: makeId("inv", String(n).padStart(26, "0")),
    merchant: 0,
    network: "ETH",
    cryptocurrency: "USDT",
    address: SHARED_ADDRESS,
    expectedMicros: units,
    askedUnits: units,
    underpaidToleranceMicros: 1_000_000n,
    overpaidToleranceMicros: 5_000_000n,
    latePaymentPolicy: "REVIEW",
    expiresAtMs: START_MS + DAY_MS,
    monitorUntilMs: START_MS + 2 * DAY_MS,
    requiredConfirmations: 1,
  };
}

function transferAt(height: number, txHash: string, amountUnits: bigint): Transfer {
  return {
    cryptocurrency: "USDT",
    txHash,
    outputIndex: "0",
    fromAddress: null,
    toAddress: SHARED_ADDRESS,
    amountUnits,
    spends: [],
    raw: "{}",
    block: { height, hash: `h${height}`, timeMs: START_MS + height * BLOCK_MS },
  };
}

class Till {
  readonly shop = new ReorgShop();
  readonly #random = randomFrom(1);

  /** Applies an observation at a height; `effect` may inject faults into its storage calls. */
  async apply(height: number, of: Partial<Pick<Findings, "transfers" | "seen">>, effect: Effect = calm) {
    const nowMs = START_MS + height * BLOCK_MS + 1_000;
    const bytes = () => Uint8Array.from({ length: 16 }, () => Math.floor(this.#random() * 256));
    const deps = shopDependencies({
      shop: this.shop,
      db: this.shop.db(effect),
      nowMs,
      newUlid: () => newUlid(nowMs, bytes()),
    });
    const heights = { tipHeight: height, finalizedHeight: null };
    return applyTransfers(deps, { network: ETH, heights, transfers: [], seen: [], ...of });
  }

  /** The stored payments of a transaction, each with this observation, in the form in which a watcher applies them. */
  async seen(txHash: string, observation: ChainObservation) {
    const rows = await this.shop.db(calm).select().from(payments);
    return rows.filter((row) => row.txHash === txHash).map((payment) => ({ payment, observation }));
  }

  /** The stored state, without random ids. */
  state() {
    return {
      payments: this.shop.rows(
        "select tx_hash, status, invoice_id, matched_by, fiat_micros from payments order by tx_hash",
      ),
      invoices: this.shop.rows(
        "select id, status, received_micros, confirmed_micros, event_sequence from invoices order by id",
      ),
      methods: this.shop.rows("select invoice_id, remainder_units from payment_methods order by invoice_id"),
      reserved: this.shop.rows("select invoice_id, units from method_amounts order by invoice_id, units"),
      events: this.shop.rows("select invoice_id, sequence, type from events order by invoice_id, sequence, type"),
    };
  }
}

const calm: Effect = async (_, work) => work();

const FAULTS: Readonly<Record<string, Effect>> = {
  "is lost before it is executed": () => Promise.reject(new Error("Network connection lost.")),
  "is executed but its response is lost": async (_, work) => {
    work();
    throw new Error("Network connection lost.");
  },
  "is refused as overloaded": () => Promise.reject(new Error("D1 DB is overloaded. Requests queued for too long.")),
  "fails with an unknown error": () => Promise.reject(new Error("D1_ERROR: something new")),
};

const STORIES: Readonly<Record<string, (till: Till, effect: Effect) => Promise<boolean>>> = {
  "a partial payment": async (till, effect) =>
    (await till.apply(3, { transfers: [transferAt(2, "part", 60_000_000n)] }, effect)).ok,
  "the rest of a payment": async (till, effect) => {
    await till.apply(3, { transfers: [transferAt(2, "part", 60_000_000n)] });
    return (await till.apply(5, { transfers: [transferAt(4, "rest", 40_000_000n)] }, effect)).ok;
  },
  "one of two payments leaving the chain": async (till, effect) => {
    await till.apply(3, { transfers: [transferAt(2, "part", 60_000_000n)] });
    await till.apply(5, { transfers: [transferAt(4, "rest", 40_000_000n)] });
    const seen = await till.seen("rest", { kind: "unknown" });
    return (await till.apply(6, { seen }, effect)).ok;
  },
  "a payment together with two unmatched ones": async (till, effect) => {
    const unmatchedPayments = ["one", "two"].map((txHash) => transferAt(2, txHash, 7_000_000n));
    return (await till.apply(3, { transfers: [...unmatchedPayments, transferAt(2, "paid", 100_000_000n)] }, effect)).ok;
  },
  "an unmatched payment leaving the chain": async (till, effect) => {
    await till.apply(3, { transfers: [transferAt(2, "unmatched", 7_000_000n)] });
    const seen = await till.seen("unmatched", { kind: "unknown" });
    return (await till.apply(4, { seen }, effect)).ok;
  },
};

/** The amounts of six invoices that are credited together. */
const MANY = [1, 2, 3, 4, 5, 6].map((n) => BigInt(n) * 100_000_000n);
const paidAt = (height: number, amounts: readonly bigint[]) =>
  amounts.map((units) => transferAt(height, `paid ${units}`, units));

const STORIES_OF_MANY: typeof STORIES = {
  "payments for six invoices in one block": async (till, effect) =>
    (await till.apply(3, { transfers: paidAt(2, MANY) }, effect)).ok,
  "payments for three invoices, one of them known, and an unmatched payment": async (till, effect) => {
    await till.apply(3, { transfers: paidAt(2, MANY.slice(0, 1)) });
    const transfers = [...paidAt(2, MANY.slice(0, 3)), transferAt(2, "unmatched", 7_000_000n)];
    return (await till.apply(3, { transfers }, effect)).ok;
  },
  "payments for six invoices leaving the chain together": async (till, effect) => {
    await till.apply(3, { transfers: paidAt(2, MANY) });
    const seen = await Promise.all(MANY.map((units) => till.seen(`paid ${units}`, { kind: "unknown" })));
    return (await till.apply(4, { seen: seen.flat() }, effect)).ok;
  },
};
const ALL_STORIES = { ...STORIES, ...STORIES_OF_MANY };

const cases = Object.keys(ALL_STORIES).flatMap((story) => Object.keys(FAULTS).map((fault) => ({ story, fault })));

it.each(cases)(
  "$story: no matter which storage call $fault, applying the observation again leaves the same state as a run without faults",
  async ({ story, fault }) => {
    const till = new Till();
    await till.shop.stock();
    const runStory = ALL_STORIES[story];
    const asked = story in STORIES ? MANY.slice(0, 1) : MANY;
    const faulty = FAULTS[fault];
    if (runStory === undefined || faulty === undefined) throw new Error(story);
    /** Runs the story with a fault at the `at`-th storage call of its last observation, and runs it again without faults if that failed. */
    const withFaultAt = async (at: number) =>
      till.shop.visit(async () => {
        await till.shop.open(asked.map((units, n) => invoiceOf(n + 1, units)));
        let calls = 0;
        const effect: Effect = async (point, work) => (++calls === at ? faulty(point, work) : work());
        const isCommitted = await runStory(till, effect).catch(() => false);
        const first = till.state();
        if (!isCommitted) await runStory(till, calm);
        return { calls, isCommitted, first, last: till.state() };
      });
    const undisturbed = await withFaultAt(0);
    expect(undisturbed.isCommitted).toBe(true);
    for (let at = 1; at <= undisturbed.calls; at++) {
      const { isCommitted, first, last } = await withFaultAt(at);
      // If a success is reported, it is committed. Anything else is repaired by applying the same observation again.
      expect({ at, state: last }).toEqual({ at, state: undisturbed.last });
      if (isCommitted) expect({ at, state: first }).toEqual({ at, state: undisturbed.last });
    }
  },
);

/** Counts the storage calls and injects no fault. */
function counted(): { readonly effect: Effect; calls: number } {
  const count = {
    calls: 0,
    effect: (async (_, work) => {
      count.calls++;
      return work();
    }) satisfies Effect,
  };
  return count;
}

it.each([
  ["of negligible value", 7n, { IGNORED: 100 }],
  ["of some value", 7_000_000n, { UNMATCHED: 100 }],
])(
  "a thousand transfers %s are stored with few calls, and an invoice paid among them is PAID",
  async (_, units, expected) => {
    const till = new Till();
    await till.shop.stock();
    await till.shop.open([invoiceOf(1, 100_000_000n), invoiceOf(2, 200_000_000n)]);
    const unmatchedPayments = Array.from({ length: 999 }, (__, n) => transferAt(2, `unmatched ${n}`, units));
    const transfers = [transferAt(2, "first", units), ...unmatchedPayments, transferAt(2, "paid", 100_000_000n)];
    const storage = counted();
    expect((await till.apply(3, { transfers }, storage.effect)).ok).toBe(true);
    expect(storage.calls).toBeLessThan(200);
    const rows = till.shop.rows("select status, count(*) as n from payments where invoice_id is null group by status");
    expect(Object.fromEntries(rows.map(({ status, n }) => [status, n]))).toEqual(expected);
    expect(till.shop.rows("select status from invoices order by id").map(({ status }) => status)).toEqual([
      "PAID",
      "AWAITING_PAYMENT",
    ]);
    // One event per stored row, and one for all rows beyond the limit.
    const unmatchedEvents = till.shop.rows("select count(*) as n from events where type = 'payment.unmatched'");
    expect(unmatchedEvents).toEqual([{ n: "UNMATCHED" in expected ? 101 : 0 }]);
    storage.calls = 0;
    expect((await till.apply(3, { transfers }, storage.effect)).ok).toBe(true);
    expect(storage.calls).toBeLessThan(200);
    expect(till.shop.rows("select count(*) as n from events where type = 'payment.unmatched'")).toEqual(
      unmatchedEvents,
    );
  },
);

it("a transfer credited by one observation stays credited if a slower observation considers it unmatched; the slower observation fails with CONTENTION", async () => {
  const till = new Till();
  await till.shop.stock();
  await till.shop.open([invoiceOf(1, 100_000_000n)]);
  const transfers = [transferAt(2, "paid", 100_000_000n)];
  let isFirst = true;
  // Another observation credits the transfer between this slow one's reads and writes.
  const slow: Effect = async (point, work) => {
    if (point === "d1 write" && isFirst) {
      isFirst = false;
      await till.apply(3, { transfers });
    }
    return work();
  };
  const answer = await till.apply(3, { transfers: transfers.map((each) => ({ ...each, isUnexplained: true })) }, slow);
  expect(answer).toEqual({ ok: false, error: { code: "CONTENTION" } });
  expect(till.shop.rows("select status, invoice_id is not null as credited from payments")).toEqual([
    { status: "CONFIRMED", credited: 1 },
  ]);
});

it("the query for the owners of addresses uses the index, however many methods share another address", () => {
  const till = new Till();
  const plan = till.shop.rows(
    `explain query plan ${selectAddressOwners(till.shop.db(calm), { network: "ETH", list: "[]" }).toSQL().sql}`,
  );
  const details = plan.map(({ detail }) => String(detail)).join("\n");
  expect(details).toMatch(
    /SEARCH method USING INDEX payment_methods_address \(network=\? AND address=\? AND address_index>\?\)/,
  );
});
