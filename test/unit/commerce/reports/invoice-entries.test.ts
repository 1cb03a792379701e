import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BUCKET_MS, type ReportEntry, totalOf } from "../../../../src/commerce/reports/bucket.ts";
import { type CountedFile, entriesOf, entriesOfChange } from "../../../../src/commerce/reports/invoice-entries.ts";
import { MINUTE_MS } from "../../../../src/lib/time.ts";
import { INVOICE_STATUSES } from "../../../../src/platform/column-values.ts";
import { RUNS } from "../../../support/property-runs.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const INVOICE: CountedFile["invoice"] = { id: "inv_1", createdAtMs: NOON + 1, resolution: null };
const OPEN: CountedFile = { invoice: INVOICE, timeline: [item("AWAITING_PAYMENT", 0)], methods: [], payments: [] };
const PAYMENT: CountedFile["payments"][number] = {
  status: "DETECTED",
  network: "ETH",
  cryptocurrency: "USDT",
  amountUnits: 25_000_000n,
  fiatMicros: 24_990_000n,
  receivedAtMs: NOON + 3 * MINUTE_MS,
};

function item(paymentStatus: CountedFile["timeline"][number]["paymentStatus"], minute: number) {
  return { paymentStatus, timeMs: NOON + minute * MINUTE_MS };
}

/** The sums in the entries, by `<minute> <network> <measure>`. */
function shown(entries: readonly ReportEntry[]): Record<string, bigint> {
  const of = ({ startsAtMs, network, sums }: ReportEntry) =>
    Object.entries(sums).map(([name, value]) => [`${(startsAtMs - NOON) / MINUTE_MS} ${network} ${name}`, value]);
  return Object.fromEntries(entries.flatMap(of));
}

describe("an invoice", () => {
  it("counts as created in the quarter-hour of its creation, and in no state while it is open", () => {
    expect(shown(entriesOfChange(undefined, OPEN))).toEqual({ "0  created": 1n });
    const waiting = { ...OPEN, timeline: [...OPEN.timeline, item("PENDING_CONFIRMATION", 20)] };
    expect(entriesOfChange(OPEN, waiting)).toEqual([]);
  });

  it.each(["PAID", "OVERPAID", "UNDERPAID", "EXPIRED", "CANCELLED"] as const)(
    "counts as %s from the time when it reached that status",
    (status) => {
      const ended = { ...OPEN, timeline: [...OPEN.timeline, item(status, 31)] };
      expect(shown(entriesOfChange(OPEN, ended))).toEqual({ [`30  ${status.toLowerCase()}`]: 1n });
    },
  );

  it("that leaves a state is no longer counted in the quarter-hour in which it reached that state", () => {
    const paid = { ...OPEN, timeline: [...OPEN.timeline, item("PAID", 31)] };
    const reversed = { ...paid, timeline: [...paid.timeline, item("PENDING_CONFIRMATION", 50)] };
    const overpaid = { ...paid, timeline: [...paid.timeline, item("OVERPAID", 50)] };
    expect(shown(entriesOfChange(paid, reversed))).toEqual({ "30  paid": -1n });
    expect(shown(entriesOfChange(paid, overpaid))).toEqual({ "30  paid": -1n, "45  overpaid": 1n });
  });
});

describe("the time from picking a method to being paid", () => {
  const methods = [7, 2, null].map((minute) => ({ activatedAtMs: minute === null ? null : NOON + minute * MINUTE_MS }));
  const timed = (file: Partial<CountedFile>) =>
    totalOf(entriesOf({ ...OPEN, methods, ...file }).map(({ sums }) => sums));

  it("begins with the first pick and ends with PAID or OVERPAID, whichever came first", () => {
    const timeline = [...OPEN.timeline, item("PAID", 10), item("OVERPAID", 70)];
    expect(timed({ timeline })).toMatchObject({ timed: 1n, secondsToPaid: 480n });
    expect(shown(entriesOf({ ...OPEN, methods, timeline }))).toMatchObject({ "0  secondsToPaid": 480n });
  });

  it("ends with the later PAID if the invoice was reversed in between", () => {
    const timeline = [...OPEN.timeline, item("PAID", 10), item("PENDING_CONFIRMATION", 20), item("PAID", 32)];
    expect(timed({ timeline })).toMatchObject({ timed: 1n, secondsToPaid: 1_800n });
  });

  it("is 0 if the clocks differ so that the payment appears to precede the pick", () => {
    expect(timed({ timeline: [...OPEN.timeline, item("PAID", 1)] })).toMatchObject({ timed: 1n, secondsToPaid: 0n });
  });

  it("is unknown for an invoice without a pick, one that a user accepted, and one that is not paid", () => {
    const timeline = [...OPEN.timeline, item("PAID", 10)];
    const resolution = JSON.stringify({ action: "ACCEPT" }) as typeof INVOICE.resolution;
    expect(timed({ timeline, methods: [] }).timed).toBe(0n);
    expect(timed({ timeline, invoice: { ...INVOICE, resolution } }).timed).toBe(0n);
    expect(timed({ timeline: [...timeline, item("UNDERPAID", 20)] }).timed).toBe(0n);
  });
});

describe("a payment", () => {
  const withPayment = (changes: Partial<typeof PAYMENT>) => ({ ...OPEN, payments: [{ ...PAYMENT, ...changes }] });
  const counted = { "0 ETH payments": 1n, "0 ETH units": 25_000_000n, "0 ETH fiatMicros": 24_990_000n };

  it("counts at its received time once it is seen, and not again when it is confirmed", () => {
    expect(shown(entriesOfChange(OPEN, withPayment({})))).toEqual(counted);
    expect(entriesOfChange(withPayment({}), withPayment({ status: "CONFIRMED" }))).toEqual([]);
  });

  it.each(["REORGED", "DROPPED"] as const)(
    "that is %s is no longer counted in the quarter-hour in which it was received",
    (status) => {
      const taken = Object.fromEntries(Object.entries(counted).map(([name, value]) => [name, -value]));
      expect(shown(entriesOfChange(withPayment({}), withPayment({ status })))).toEqual(taken);
    },
  );

  it("moves to another quarter-hour when its received time changes, and is priced once a rate is known", () => {
    const earlier = withPayment({ receivedAtMs: NOON - 1 });
    expect(shown(entriesOfChange(withPayment({ fiatMicros: null }), earlier))).toEqual({
      "0 ETH payments": -1n,
      "0 ETH units": -25_000_000n,
      "0 ETH unpriced": -1n,
      "-15 ETH payments": 1n,
      "-15 ETH units": 25_000_000n,
      "-15 ETH fiatMicros": 24_990_000n,
    });
  });

  it("in a token that anyone can mint counts with at most 10^33 units", () => {
    const { units } = totalOf(entriesOf(withPayment({ amountUnits: 2n ** 256n - 1n })).map(({ sums }) => sums));
    expect(units).toBe(10n ** 33n);
  });
});

it("the entries of an invoice's changes always add up to the entries of its final state", () => {
  const minute = fc.integer({ min: -100, max: 100_000 });
  const status = fc.constantFrom(...INVOICE_STATUSES);
  const payment = fc.record({
    status: fc.constantFrom("DETECTED", "CONFIRMED", "DROPPED", "REORGED"),
    network: fc.constantFrom("ETH", "BTC", "ETH_SEPOLIA"),
    cryptocurrency: fc.constantFrom("ETH", "BTC"),
    amountUnits: fc.bigInt(0n, 10n ** 30n),
    fiatMicros: fc.option(fc.bigInt(0n, 10n ** 12n)),
    receivedAtMs: minute.map((each) => NOON + each * MINUTE_MS),
  });
  const state = fc.record({
    timeline: fc.array(fc.tuple(status, minute), { minLength: 1, maxLength: 6 }),
    picks: fc.array(fc.option(minute), { maxLength: 3 }),
    payments: fc.array(payment, { maxLength: 5 }),
    isAccepted: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(state, { minLength: 1, maxLength: 8 }), (states) => {
      const files = states.map(({ timeline, picks, payments, isAccepted }) => ({
        invoice: { ...INVOICE, resolution: isAccepted ? JSON.stringify({ action: "ACCEPT" }) : null },
        timeline: timeline.map(([each, at]) => item(each, at)),
        methods: picks.map((at) => ({ activatedAtMs: at === null ? null : NOON + at * MINUTE_MS })),
        payments,
      }));
      const added = files.flatMap((file, n) => entriesOfChange(files[n - 1] as never, file));
      expect(byBucket(added)).toEqual(byBucket(entriesOf(files.at(-1) ?? OPEN)));
      expect(added.every(({ startsAtMs }) => startsAtMs % BUCKET_MS === 0)).toBe(true);
    }),
    { numRuns: RUNS },
  );
});

function byBucket(entries: readonly ReportEntry[]): Record<string, bigint> {
  const buckets = Map.groupBy(entries, (each) => `${each.startsAtMs} ${each.network} ${each.cryptocurrency}`);
  const sums = [...buckets].flatMap(([key, all]) =>
    Object.entries(totalOf(all.map((each) => each.sums))).map(([name, value]) => [`${key} ${name}`, value] as const),
  );
  return Object.fromEntries(sums.filter(([, value]) => value !== 0n));
}
