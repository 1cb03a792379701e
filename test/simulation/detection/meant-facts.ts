// One transfer to an address that several merchants share, and all invoices that it may be meant for. Their amounts and times are at, just below and
// just above each limit of the rules, and some rows are damaged or forged. Everything is stored before the transfer is read.
import { type InvoiceId, makeId } from "../../../src/lib/ids.ts";
import { Dice } from "../../support/dice.ts";

export const COINS = ["USDT", "USDC"] as const;
export type Coin = (typeof COINS)[number];
export const MERCHANTS = 4;
export const PAID_MS = 1_800_000_000_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export interface AmountFact {
  readonly coin: Coin;
  readonly units: bigint;
  readonly sinceMs: number;
  readonly isReleased: boolean;
}

/** What is wrong with a row: it or its quotes cannot be read, or its MAC is not ours. */
type Damage = "none" | "row" | "quotes" | "forged";

export interface InvoiceFact {
  readonly id: InvoiceId;
  readonly merchant: number;
  readonly rank: 1 | 2 | 3;
  readonly expectedMicros: bigint;
  readonly toleranceMicros: bigint;
  readonly overMicros: bigint;
  readonly openedMs: number;
  readonly expiresMs: number;
  readonly cancelledMs: number | null;
  readonly heldUntilMs: number;
  readonly damage: Damage;
  /** Oldest first; empty for the invoice that owns the address. */
  readonly amounts: readonly AmountFact[];
}

export interface Situation {
  readonly invoices: readonly InvoiceFact[];
  /** The invoice that has the address to itself, if any. It belongs to the first merchant and asks for USDT. */
  readonly owner: InvoiceFact | undefined;
  readonly coin: Coin;
  readonly units: bigint;
  readonly paidMs: number;
  readonly isMined: boolean;
  readonly isToItself: boolean;
  readonly nowMs: number;
  /** The amount from which two sources must agree, for every merchant; null if they never need to. */
  readonly quorumMicros: bigint | null;
  readonly hasSecond: boolean;
  /** Whether so many merchants have a wallet at the address that not all can be notified of a transfer. */
  readonly isCrowded: boolean;
}

const PRICE = 100_000_000n;
/** Includes amounts too far away to be candidates, although their invoices are open. */
const PRICES = [
  PRICE,
  PRICE,
  PRICE - 1n,
  PRICE - 500_000n,
  101_000_000n,
  98_000_000n,
  105_000_000n,
  10_000_000n,
  200_000_000n,
];
const FAR = [2_000_000n, 6_000_000_000n];
const SLACK_MS = 30_000;
const SINCE = [
  -20 * HOUR,
  -HOUR,
  -HOUR,
  -2_000,
  -1_001,
  -1_000,
  -999,
  -1,
  0,
  1,
  999,
  1_000,
  SLACK_MS - 1,
  SLACK_MS,
  SLACK_MS + 1,
  HOUR,
];
const ENDS = [-HOUR, -1, 0, 1, HOUR, HOUR, DAY];

export function situationOf(seed: number): Situation {
  const dice = new Dice(seed);
  const isMined = dice.chance(0.7);
  const paidMs = PAID_MS + (isMined ? 0 : 400);
  const nowMs = paidMs + (isMined ? dice.oneOf([0, 1, HOUR, 2 * HOUR, 40 * DAY, 40 * DAY + 1]) : 0);
  const ranks = Array.from({ length: MERCHANTS }, () => dice.oneOf([1, 2, 2, 3, 3] as const));
  const farShare = dice.oneOf([0.1, 0.1, 0.7]);
  // If set, only amounts and ranks decide which invoice gets the transfer.
  const isCalm = dice.chance(0.3);
  const invoices: InvoiceFact[] = [];
  for (let n = dice.oneOf([1, 2, 3, 4, 6]); n > 0; n--) {
    const merchant = dice.below(MERCHANTS);
    const of = { id: idOf(invoices.length), merchant, rank: ranks[merchant] ?? 3, paidMs, nowMs, farShare, isCalm };
    invoices.push(invoiceOf(dice, of, invoices));
  }
  const owner = dice.chance(0.2) ? ownerOf(dice, paidMs) : undefined;
  const near = invoices.filter(({ amounts: [first] }) => first !== undefined && !FAR.includes(first.units));
  const coin = dice.chance(0.85) ? "USDT" : "USDC";
  const payee = owner !== undefined && dice.chance(0.6) ? owner : dice.oneOf(near.length > 0 ? near : invoices);
  const units = unitsFor(dice, coin, payee);
  const large = dice.oneOf([payee.expectedMicros, units]) + dice.oneOf([-1n, 0n, 1n]);
  return {
    invoices,
    owner,
    coin,
    units,
    paidMs,
    isMined,
    nowMs,
    isToItself: dice.chance(0.03),
    quorumMicros: dice.chance(0.5) ? large : null,
    hasSecond: dice.chance(0.5),
    isCrowded: dice.chance(0.02),
  };
}

const idOf = (n: number) => makeId("inv", String(n + 1).padStart(26, "0"));
const later = (...ms: readonly number[]) => Math.max(...ms);

const quietTimes = (paidMs: number) => ({
  openedMs: paidMs - HOUR,
  expiresMs: paidMs + HOUR,
  cancelledMs: null,
  heldUntilMs: paidMs + DAY,
});

function timesOf(dice: Dice, paidMs: number) {
  const openedMs = paidMs + dice.oneOf(SINCE);
  const expiresMs = later(openedMs + MINUTE, paidMs + dice.oneOf(ENDS));
  const cancelledMs = dice.chance(0.25) ? later(openedMs, paidMs + dice.oneOf([-HOUR, -1, 0, 1])) : null;
  const heldUntilMs = later(Math.min(expiresMs, cancelledMs ?? expiresMs), paidMs + dice.oneOf([0, 0, ...ENDS]));
  return {
    openedMs,
    expiresMs,
    cancelledMs: cancelledMs !== null && cancelledMs <= expiresMs ? cancelledMs : null,
    heldUntilMs,
  };
}

function termsOf(dice: Dice, units: bigint) {
  const expectedMicros = units + dice.oneOf([0n, 0n, 1n, units / 200n]);
  return {
    expectedMicros,
    toleranceMicros: dice.oneOf([0n, 1_000_000n, expectedMicros / 100n, expectedMicros / 50n, expectedMicros / 200n]),
    overMicros: dice.oneOf([0n, expectedMicros / 20n, expectedMicros / 100n]),
  };
}

function invoiceOf(
  dice: Dice,
  of: Pick<InvoiceFact, "id" | "merchant" | "rank"> &
    Pick<Situation, "paidMs" | "nowMs"> & { readonly farShare: number; readonly isCalm: boolean },
  others: readonly InvoiceFact[],
): InvoiceFact {
  const { paidMs, nowMs, farShare, isCalm, ...own } = of;
  const times = isCalm ? quietTimes(paidMs) : timesOf(dice, paidMs);
  const first = dice.chance(farShare) ? dice.oneOf(FAR) : dice.oneOf(PRICES);
  const isOver = times.heldUntilMs < nowMs;
  const amounts: AmountFact[] = [];
  const ask = (coin: Coin, wanted: bigint, sinceMs: number) => {
    const isReleased = isOver && dice.chance(0.45);
    let units = wanted;
    // Two invoices of one rank or one merchant never hold the same amount, and no invoice holds what another released while it was paid.
    const isTaken = () =>
      others.some((other) =>
        other.amounts.some(
          (each) =>
            each.coin === coin &&
            each.units === units &&
            (isReleased || each.isReleased
              ? Math.max(other.heldUntilMs, times.heldUntilMs) >= paidMs
              : other.rank === own.rank || other.merchant === own.merchant),
        ),
      ) || amounts.some((each) => each.coin === coin && each.units === units);
    while (isTaken()) units -= 1n;
    amounts.push({ coin, units, sinceMs, isReleased });
  };
  ask("USDT", first, times.openedMs);
  const again = times.openedMs + dice.oneOf([1, 1_000, HOUR]);
  if (dice.chance(0.3) && again < times.expiresMs) ask("USDT", dice.oneOf([first / 2n, first - 3n, first + 7n]), again);
  if (dice.chance(0.3)) ask("USDC", dice.oneOf([first, first / 2n]), times.openedMs);
  const damage = dice.oneOf(["none", "none", "none", "none", "none", "none", "row", "quotes", "forged"] as const);
  return { ...own, ...times, ...termsOf(dice, first), amounts, damage: isCalm ? "none" : damage };
}

function ownerOf(dice: Dice, paidMs: number): InvoiceFact {
  const damage = dice.oneOf(["none", "none", "none", "none", "row", "forged"] as const);
  const terms = termsOf(dice, PRICE);
  return { id: idOf(99), merchant: 0, rank: 1, ...timesOf(dice, paidMs), ...terms, amounts: [], damage };
}

/** An amount that the invoice asks for exactly, or one at a limit of the rules. */
function unitsFor(dice: Dice, coin: Coin, of: InvoiceFact): bigint {
  const amounts = of.amounts.filter((each) => each.coin === coin);
  const asked = amounts.length === 0 ? PRICE : dice.oneOf(amounts).units;
  if (amounts.length > 0 && dice.chance(0.4)) return asked;
  const { expectedMicros: due, toleranceMicros: low, overMicros: over } = of;
  const little = [due / 100n, low, low, 100_000n];
  const isLittle = dice.chance(of.amounts.length === 0 ? 0.5 : 0.2);
  // Usual mistakes: half the amount, or the amount less a fee. The fee is a round number, or at most a quarter of the amount.
  const mistakes = [due / 2n, due - 1_000_000n, due - 1_500_000n, due - due / 4n, due - due / 20n, due - due / 20n];
  const worth = dice.oneOf(
    isLittle ? little : [due - low, due - 2n * low, due + over, due + 2n * over, due / 10n, 2n * due, due, ...mistakes],
  );
  const units = ((worth + dice.oneOf([-1n, 0n, 0n, 1n])) * asked + due - 1n) / due;
  return units < 1n ? 1n : units;
}
