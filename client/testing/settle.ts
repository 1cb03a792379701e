// What the payments of an invoice make of it: sums, status, timeline and events, as the API decides them.
import { ceilDiv, formatMicros, formatUnits } from "../../src/lib/money.ts";
import type * as Api from "../api-types.ts";
import { type News, record } from "./events.ts";
import { type Pair, paymentUri, plainUnits, rateOf, worthMicros } from "./pairs.ts";
import { type FakeInvoice, type FakeMethod, type FakePayment, type FakeState, timeOf } from "./state.ts";

type Status = Api.Invoice["status"];

const EVENTS: Readonly<Record<Status, readonly News["type"][]>> = {
  AWAITING_PAYMENT: [],
  PENDING_CONFIRMATION: ["invoice.pending_confirmation"],
  PAID: ["invoice.paid", "payment.paid"],
  OVERPAID: ["invoice.overpaid", "payment.overpaid"],
  UNDERPAID: ["invoice.underpaid", "payment.underpaid"],
  EXPIRED: ["invoice.expired", "payment.expired"],
  CANCELLED: ["invoice.cancelled"],
};

export function isActive(status: Status): boolean {
  return status === "AWAITING_PAYMENT" || status === "PENDING_CONFIRMATION";
}

/** One percent, and at most five. */
export function underTolerance(expectedMicros: bigint): bigint {
  const share = expectedMicros / 100n;
  return share < 5_000_000n ? share : 5_000_000n;
}

export function overTolerance(expectedMicros: bigint): bigint {
  return (expectedMicros * 5n) / 100n;
}

/** The active method of a pair. */
export function methodOf({ methods }: FakeInvoice, of: Pair): FakeMethod | undefined {
  return methods.find(({ pair }) => pair === of);
}

/** What units are worth to an invoice: by its own quote, and without one at the price of the day. */
export function worthTo(invoice: FakeInvoice, pair: Pair, units: bigint): bigint {
  const method = methodOf(invoice, pair);
  if (method === undefined) return worthMicros(pair, units, rateOf(pair, invoice.body.currency));
  return (method.forMicros * units) / method.amountUnits;
}

/** Brings an invoice up to date. `before`: events of what happened to it, which come first. */
export function settle(state: FakeState, invoice: FakeInvoice, before: readonly News[] = []): void {
  const { body } = invoice;
  const payments = paymentsOf(state, invoice);
  const received = sumOf(invoice, payments);
  const confirmed = sumOf(
    invoice,
    payments.filter(({ body: { status } }) => status === "CONFIRMED"),
  );
  const grew = received > invoice.receivedMicros;
  const isChanged = received !== invoice.receivedMicros || confirmed !== invoice.confirmedMicros;
  invoice.receivedMicros = received;
  invoice.confirmedMicros = confirmed;
  const from = body.status;
  const to = statusOf(invoice, state.now(), payments);
  const moves = movesBetween(from, to, !invoice.isAccepted);
  const least = invoice.expectedMicros - underTolerance(invoice.expectedMicros);
  const partial: News[] = grew && received < least && !invoice.isAccepted ? [{ type: "invoice.partially_paid" }] : [];
  const moved = moves.flatMap(([previousStatus, next]) =>
    EVENTS[next].map((type): News => ({ type, facts: { previousStatus } })),
  );
  const own: News[] = [...partial, ...moved];
  if (own.length === 0 && isChanged) own.push({ type: "invoice.updated" });
  const news = [...before, ...own];
  if (news.length === 0) return;
  const at = timeOf(state);
  for (const [, next] of moves)
    body.invoiceTimeline.push({ id: state.newId("itl"), invoiceId: body.id, paymentStatus: next, time: at });
  body.status = to;
  body.updatedAt = at;
  body.amountReceived = formatMicros(received);
  body.amountConfirmed = formatMicros(confirmed);
  body.payments = payments.map((payment) => payment.body);
  askForRest(invoice);
  record(state, invoice, news);
}

export function paymentsOf(state: FakeState, { body: { id } }: FakeInvoice): FakePayment[] {
  return [...state.payments.values()].filter((payment) => payment.body.invoiceId === id);
}

/** Of payments on one quote the units are added up before rounding. */
function sumOf(invoice: FakeInvoice, payments: readonly FakePayment[]): bigint {
  const units = new Map<Pair, bigint>();
  for (const payment of payments) units.set(payment.pair, (units.get(payment.pair) ?? 0n) + payment.units);
  return [...units].reduce((sum, [pair, total]) => sum + worthTo(invoice, pair, total), 0n);
}

function statusOf(invoice: FakeInvoice, nowMs: number, payments: readonly FakePayment[]): Status {
  const { expectedMicros, receivedMicros, confirmedMicros } = invoice;
  if (invoice.isAccepted) return "PAID";
  if (invoice.isCancelled) return "CANCELLED";
  const least = expectedMicros - underTolerance(expectedMicros);
  if (confirmedMicros > expectedMicros + overTolerance(expectedMicros) && expectedMicros > 0n) return "OVERPAID";
  if (confirmedMicros > 0n && confirmedMicros >= least) return "PAID";
  if (receivedMicros > 0n && receivedMicros >= least) return "PENDING_CONFIRMATION";
  if (nowMs <= Date.parse(invoice.body.expiresAt)) return "AWAITING_PAYMENT";
  if (payments.some(({ body: { status } }) => status === "DETECTED")) return "PENDING_CONFIRMATION";
  return confirmedMicros > 0n ? "UNDERPAID" : "EXPIRED";
}

/** Money that is confirmed at once also goes through PENDING_CONFIRMATION; a decision by hand does not. */
function movesBetween(from: Status, to: Status, isByMoney: boolean): readonly (readonly [Status, Status])[] {
  if (from === to) return [];
  const isStepOver =
    isByMoney && (to === "PAID" || to === "OVERPAID") && (from === "AWAITING_PAYMENT" || from === "UNDERPAID");
  if (!isStepOver) return [[from, to]];
  return [
    [from, "PENDING_CONFIRMATION"],
    ["PENDING_CONFIRMATION", to],
  ];
}

/** After a part was paid, each method asks for the rest, in whole grains. */
function askForRest(invoice: FakeInvoice): void {
  const { expectedMicros, receivedMicros, body } = invoice;
  const missing = expectedMicros - receivedMicros;
  for (const method of invoice.methods) {
    const { amountUnits, forMicros, pair } = method;
    const shown = body.paymentMethods.find(
      (each) => each.cryptocurrency === pair.cryptocurrency && each.network === pair.network,
    );
    const due = missing <= 0n ? 0n : ceilDiv(amountUnits * missing, forMicros);
    const isOpen = (isActive(body.status) || body.status === "UNDERPAID") && missing > underTolerance(expectedMicros);
    method.restUnits = isOpen && missing !== forMicros ? plainUnits(pair, due) : undefined;
    if (shown?.address == null) continue;
    const asked = method.restUnits ?? due;
    shown.amountDue = formatUnits(asked, pair.decimals);
    shown.paymentUri = paymentUri(pair, shown.address, asked);
  }
}
