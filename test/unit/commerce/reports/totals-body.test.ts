// A report counts only payments on networks whose coins have value.
import fc from "fast-check";
import { expect, it } from "vitest";
import { NETWORKS } from "../../../../src/chains/registry/networks.ts";
import { NO_COIN, totalOf } from "../../../../src/commerce/reports/bucket.ts";
import { type PeriodSums, totalsBodyOf } from "../../../../src/commerce/reports/totals-body.ts";
import { formatMicros } from "../../../../src/lib/money.ts";
import { RUNS } from "../../../support/property-runs.ts";

/** Networks whose coins have no value, recognized here by their names, because the registry's own marks are under test. */
const TESTS = /TESTNET|SEPOLIA|AMOY|NILE|REGTEST/;

const PERIOD = { fromDay: 20_000, toDay: 20_000, startsAtMs: 0, endsAtMs: 86_400_000 };
const QUERY = { from: "2026-11-01", to: "2026-11-02", by: "day", timezone: "UTC", periods: [PERIOD, PERIOD] } as const;

const coins = NETWORKS.flatMap(({ name, assets }) =>
  assets.map(({ code }) => ({ network: name, cryptocurrency: code })),
);
const row = fc
  .record({
    coin: fc.constantFrom(...coins),
    period: fc.constantFrom(0, 1),
    currency: fc.constantFrom("EUR", "USD"),
    payments: fc.bigInt(1n, 9n),
    unpriced: fc.bigInt(0n, 1n),
    units: fc.bigInt(1n, 10n ** 20n),
    fiatMicros: fc.bigInt(1n, 10n ** 12n),
  })
  .map(({ coin, period, currency, ...sums }): PeriodSums => ({ ...coin, period, currency, sums: totalOf([sums]) }));

it("payments on test networks are in no received sum, and their coins are marked", () => {
  const seen = { main: 0, test: 0 };
  fc.assert(
    fc.property(fc.uniqueArray(row, { maxLength: 12, selector: keyOf }), (rows) => {
      const { total, periods } = totalsBodyOf(QUERY, rows);
      for (const [sums, own] of [
        [total, rows],
        ...periods.map((period, n) => [period, rows.filter((each) => each.period === n)] as const),
      ] as const) {
        const real = own.filter(({ network }) => !TESTS.test(network));
        seen.main += real.length;
        seen.test += own.length - real.length;
        const sumOf = (measure: "payments" | "unpriced") => real.reduce((sum, each) => sum + each.sums[measure], 0n);
        expect([sums.payments, sums.unpriced]).toEqual([Number(sumOf("payments")), Number(sumOf("unpriced"))]);
        const received = [...Map.groupBy(real, ({ currency }) => currency)].map(([currency, all]) => ({
          currency,
          amount: formatMicros(all.reduce((sum, each) => sum + each.sums.fiatMicros, 0n)),
        }));
        expect(sums.received).toHaveLength(received.length);
        expect(sums.received).toEqual(expect.arrayContaining(received));
        for (const { network, isTest, received: value } of sums.coins) {
          expect([network, isTest]).toEqual([network, TESTS.test(network)]);
          if (isTest) expect(value).toEqual([]);
        }
        expect(new Set(sums.coins.map(({ network }) => network))).toEqual(new Set(own.map(({ network }) => network)));
      }
    }),
    { numRuns: RUNS },
  );
  expect(Math.min(seen.main, seen.test)).toBeGreaterThan(0);
});

it("invoices count no matter on which network they are paid", () => {
  const sums = totalOf([{ created: 2n, paid: 1n }]);
  const { total } = totalsBodyOf(QUERY, [{ ...NO_COIN, period: 0, currency: "EUR", sums }]);
  expect(total).toMatchObject({ invoices: { created: 2, paid: 1 }, payments: 0, received: [], coins: [] });
});

function keyOf({ network, cryptocurrency, period, currency }: PeriodSums): string {
  return [network, cryptocurrency, period, currency].join(" ");
}
