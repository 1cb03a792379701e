import { isTestNetwork } from "../../chains/registry/networks.ts";
import { type Pair, pairOf } from "../../chains/registry/pair.ts";
import { formatMicros, formatUnits } from "../../lib/money.ts";
import { isoTime } from "../../lib/time.ts";
import { NO_COIN, type Sums, totalOf } from "./bucket.ts";
import { dateOf, type Period, type PeriodKind } from "./calendar.ts";

/** The sums of a period in one currency, for invoices or for one coin's payments. */
export interface PeriodSums extends Pair {
  /** The index of the period in the list. */
  readonly period: number;
  readonly currency: string;
  readonly sums: Sums;
}

export interface TotalsQuery {
  readonly from: string;
  readonly to: string;
  readonly by: PeriodKind;
  readonly timezone: string;
  readonly currency?: string | undefined;
  readonly periods: readonly Period[];
}

/** The body of a report. `rows`: those of all periods, in any order; a period without rows is empty. */
export function totalsBodyOf({ periods, ...asked }: TotalsQuery, rows: readonly PeriodSums[]) {
  const { from, to, by, timezone, currency = null } = asked;
  const byPeriod = Map.groupBy(rows, ({ period }) => period);
  return {
    from,
    to,
    by,
    timezone,
    currency,
    total: sumsBodyOf(rows),
    periods: periods.map(({ fromDay, toDay, startsAtMs, endsAtMs }, n) => ({
      from: dateOf(fromDay),
      to: dateOf(toDay),
      startsAt: isoTime(startsAtMs),
      endsAt: isoTime(endsAtMs),
      ...sumsBodyOf(byPeriod.get(n) ?? []),
    })),
  };
}

function sumsBodyOf(rows: readonly PeriodSums[]) {
  const total = sumOf(rows);
  const ofCoins = rows.filter(({ network }) => network !== NO_COIN.network);
  const received = ofCoins.filter(({ network }) => !isTestNetwork(network));
  const { payments, unpriced } = sumOf(received);
  const coins = [...Map.groupBy(ofCoins, ({ network, cryptocurrency }) => `${network} ${cryptocurrency}`)];
  return {
    invoices: {
      created: Number(total.created),
      paid: Number(total.paid),
      overpaid: Number(total.overpaid),
      underpaid: Number(total.underpaid),
      expired: Number(total.expired),
      cancelled: Number(total.cancelled),
    },
    timeToPaid: { invoices: Number(total.timed), seconds: total.secondsToPaid.toString() },
    payments: Number(payments),
    unpriced: Number(unpriced),
    received: receivedOf(received),
    coins: coins.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, ofCoin]) => coinBodyOf(ofCoin)),
  };
}

function coinBodyOf(rows: readonly PeriodSums[]) {
  const { network = "", cryptocurrency = "" } = rows[0] ?? {};
  const { payments, units } = sumOf(rows);
  const amount = formatUnits(units, pairOf({ network, cryptocurrency }).asset.decimals);
  const isTest = isTestNetwork(network);
  return {
    network,
    cryptocurrency,
    isTest,
    payments: Number(payments),
    units: units.toString(),
    amount,
    received: isTest ? [] : receivedOf(rows),
  };
}

/** The value of payments by invoice currency, sorted by currency code. */
function receivedOf(rows: readonly PeriodSums[]) {
  return [...Map.groupBy(rows, ({ currency }) => currency)]
    .map(([currency, all]) => ({ currency, amount: formatMicros(sumOf(all).fiatMicros) }))
    .toSorted((one, other) => (one.currency < other.currency ? -1 : 1));
}

function sumOf(rows: readonly PeriodSums[]): Sums {
  return totalOf(rows.map(({ sums }) => sums));
}
