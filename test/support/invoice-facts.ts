// Facts for the rules of invoices: an invoice of 100 USD at the default tolerances, payable in two assets. In the first asset one base unit is worth
// one micro-unit, so a table of cases can use one number for both.
import type { NetworkWatch } from "../../src/commerce/cursors/cursor.ts";
import type { CreditedPayment } from "../../src/commerce/payments/payment.ts";
import type { Quote } from "../../src/commerce/quotes/quotes.ts";
import type { InvoiceFacts, InvoiceState, Settlement } from "../../src/commerce/settlement/status.ts";
import type { PricedMethod } from "../../src/commerce/settlement/value.ts";
import { makeId } from "../../src/lib/ids.ts";

export const E = 100_000_000n;
export const TOL = 1_000_000n;
export const OVER = 5_000_000n;
export const EXPIRES = 1_000_000;
export const MONITOR_UNTIL = 2_000_000;
export const REORG_WINDOW = 10_000;

/** A quote for the whole amount E, locked forever. `changes` replace its members. */
export function quoteOf(changes: Partial<Quote> = {}): Quote {
  return {
    amountUnits: E,
    rate: "1",
    forMicros: E,
    askedFromMs: 0,
    lockedUntilMs: Number.MAX_SAFE_INTEGER,
    ...changes,
  };
}

/** A quote of this many units from one time to another. */
export function asked(amountUnits: bigint | null, askedFromMs: number, lockedUntilMs: number): Quote {
  return quoteOf({ amountUnits, askedFromMs, lockedUntilMs });
}

/** The method with one quote, of `amountUnits` for `forMicros`. */
export function asking(method: PricedMethod, amountUnits: bigint | null, forMicros = E): PricedMethod {
  const [quote = quoteOf()] = method.quotes;
  return { ...method, quotes: [{ ...quote, amountUnits, forMicros }] };
}

export const USDT: PricedMethod = {
  network: "ETH",
  cryptocurrency: "USDT",
  decimals: 6,
  quotes: [quoteOf()],
  slackMs: 120_000,
};
/** 100 USD are 147,059 satoshi here. That does not divide E, so rounding shows. */
export const BTC: PricedMethod = {
  network: "BTC",
  cryptocurrency: "BTC",
  decimals: 8,
  quotes: [quoteOf({ amountUnits: 147_059n, rate: "68000.1" })],
  slackMs: 1_200_000,
};

function stateOf(changes: Partial<InvoiceState> = {}): InvoiceState {
  return {
    status: "AWAITING_PAYMENT",
    amountMicros: E,
    receivedMicros: 0n,
    confirmedMicros: 0n,
    isLate: false,
    needsReview: false,
    underpaidToleranceMicros: TOL,
    overpaidToleranceMicros: OVER,
    latePaymentPolicy: "REVIEW",
    expiresAtMs: EXPIRES,
    lateGraceUntilMs: null,
    monitorUntilMs: MONITOR_UNTIL,
    cancelledAtMs: null,
    closedAtMs: null,
    ...changes,
  };
}

export function factsOf(invoice: Partial<InvoiceState> = {}, changes: Partial<InvoiceFacts> = {}): InvoiceFacts {
  return { invoice: stateOf(invoice), resolution: null, methods: [USDT, BTC], watches: [], ...changes };
}

export function paymentOf(
  changes: Partial<Omit<CreditedPayment, "id">> & { readonly n?: number } = {},
): CreditedPayment {
  const { n = 0, ...rest } = changes;
  return {
    id: makeId("pay", String(n).padStart(26, "0")),
    network: "ETH",
    cryptocurrency: "USDT",
    amountUnits: E,
    status: "CONFIRMED",
    receivedAtMs: 1_000,
    reorgedAtMs: null,
    reorgWindowMs: REORG_WINDOW,
    marketMicros: null,
    isLate: false,
    ...rest,
  };
}

/** A cursor that advances, at `passedMs`. */
export function cursorAt(passedMs: number, lastMovedAtMs = Number.MAX_SAFE_INTEGER): NetworkWatch {
  return { kind: "cursor", network: "ETH", passedMs, lastMovedAtMs, tickedAtMs: Number.MAX_SAFE_INTEGER };
}

/** The facts after storing a settlement. */
export function stored(
  facts: InvoiceFacts,
  payments: readonly CreditedPayment[],
  settlement: Settlement,
): { readonly facts: InvoiceFacts; readonly payments: readonly CreditedPayment[] } {
  const { status, receivedMicros, confirmedMicros, isLate, needsReview, closedAtMs } = settlement;
  const marks = new Map(settlement.lateness.map((change) => [change.id, change.isLate]));
  return {
    facts: {
      ...facts,
      invoice: { ...facts.invoice, status, receivedMicros, confirmedMicros, isLate, needsReview, closedAtMs },
    },
    payments: payments.map((payment) => ({ ...payment, isLate: marks.get(payment.id) ?? payment.isLate })),
  };
}
