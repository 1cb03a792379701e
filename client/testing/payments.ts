// Payments of the fake: made by a test's hand, listed, and decided by hand.
import { formatMicros, formatUnits } from "../../src/lib/money.ts";
import type * as Api from "../api-types.ts";
import { unitsOf } from "./amounts.ts";
import { type News, record } from "./events.ts";
import type { Transfer } from "./hand.ts";
import { invoiceOf } from "./invoices.ts";
import { type Pair, pairNamed } from "./pairs.ts";
import { Refused } from "./refusal.ts";
import { isActive, methodOf, overTolerance, settle, underTolerance, worthTo } from "./settle.ts";
import { type FakeInvoice, type FakePayment, type FakeState, timeOf } from "./state.ts";

/** A customer pays an invoice that waits for money. */
export function pay(state: FakeState, invoiceId: string, transfer: Transfer): FakePayment {
  const invoice = invoiceOf(state, invoiceId);
  if (!isActive(invoice.body.status))
    throw new Error(`${invoiceId} is ${invoice.body.status}: the fake does not do payments that come too late`);
  const method = chosenMethod(invoice, transfer);
  const { pair } = method;
  const units =
    transfer.amount === undefined ? (method.restUnits ?? method.amountUnits) : unitsOf(transfer.amount, pair.decimals);
  const matchedBy = ruleOf(invoice, pair, units);
  const payment = newPayment(state, pair, units);
  const isFarOver = worthTo(invoice, pair, units) > invoice.expectedMicros + overTolerance(invoice.expectedMicros);
  if (matchedBy === "SOLE_CANDIDATE" && isFarOver) invoice.body.needsReview = true;
  credit(invoice, payment, matchedBy);
  const detected: News = { type: "payment.detected", facts: { payment: payment.body } };
  settle(state, invoice, [detected]);
  if (transfer.isConfirmed ?? true) confirm(state, payment.body.id);
  return payment;
}

/** A transfer that no invoice asked for. */
export function payUnmatched(state: FakeState, transfer: Transfer): FakePayment {
  const { cryptocurrency = "", network = "", amount = "" } = transfer;
  const pair = pairNamed({ cryptocurrency, network });
  if (pair === undefined) throw new TypeError("an unmatched payment needs a cryptocurrency and a network");
  const units = unitsOf(amount, pair.decimals);
  const payment = newPayment(state, pair, units);
  for (const invoice of state.invoices.values()) {
    const method = methodOf(invoice, pair);
    if (method === undefined || !isActive(invoice.body.status)) continue;
    payment.candidates.push({
      invoiceId: invoice.body.id,
      reason: "AMOUNT_DIFFERS",
      isNamed: false,
      askedAmount: formatUnits(method.amountUnits, pair.decimals),
      amountDiffersPercent: percentText(units, method.amountUnits),
      madeBeforeSeconds: Math.trunc(
        (Date.parse(payment.body.receivedTxAt) - Date.parse(invoice.body.createdAt)) / 1_000,
      ),
    });
  }
  record(state, undefined, [{ type: "payment.unmatched", facts: { payment: payment.body } }]);
  return payment;
}

/** By how much it is more, or with a minus less, than what was asked for. */
function percentText(units: bigint, askedUnits: bigint): string {
  const points = ((units - askedUnits) * 10_000n) / askedUnits;
  const digits = (points < 0n ? -points : points).toString().padStart(3, "0");
  return `${points < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The transfer gets the confirmations that it needs. */
export function confirm(state: FakeState, paymentId: string): FakePayment {
  const payment = paymentOf(state, paymentId);
  const { body } = payment;
  if (body.status !== "DETECTED" || body.invoiceId === null)
    throw new Error(`${paymentId} is ${body.status}: only a payment that was detected can be confirmed`);
  const invoice = invoiceOf(state, body.invoiceId);
  body.status = "CONFIRMED";
  body.confirmations = body.requiredConfirmations;
  body.confirmedTxAt = timeOf(state);
  body.updatedAt = body.confirmedTxAt;
  settle(state, invoice, [{ type: "payment.confirmed", facts: { payment: body } }]);
  return payment;
}

export function paymentOf(state: FakeState, id: string): FakePayment {
  const payment = state.payments.get(id);
  if (payment === undefined) throw new Refused("PAYMENT_NOT_FOUND");
  return payment;
}

/** Without what only a chain knows. */
export function detailsOf(payment: FakePayment, invoice: FakeInvoice | undefined): object {
  const { body, resolution, units, pair, candidates } = payment;
  const method = invoice === undefined ? undefined : methodOf(invoice, pair);
  const marketAmount = body.fiatAmount;
  const weighing =
    invoice === undefined
      ? null
      : {
          by: weighedBy(method, units),
          quote:
            method === undefined
              ? null
              : {
                  amount: formatUnits(method.amountUnits, pair.decimals),
                  rate: method.rate,
                  forAmount: formatMicros(method.forMicros),
                  askedFrom: new Date(method.atMs).toISOString(),
                  lockedUntil: new Date(method.atMs + 3_600_000).toISOString(),
                },
          marketAmount,
        };
  const block = { height: body.blockHeight, hash: body.txHash, time: body.receivedTxAt };
  return {
    ...body,
    evidence: { rule: body.matchedBy, weighing, raw: "{}", block, candidates, supersedes: [], claims: [] },
    resolution,
  };
}

function weighedBy(method: ReturnType<typeof methodOf>, units: bigint): string {
  if (method === undefined) return "MARKET_RATE";
  return [method.amountUnits, method.restUnits].includes(units) ? "EXACT_UNITS" : "IN_FORCE";
}

/** By hand. `actor`: the key that decides. */
export function resolvePayment(state: FakeState, id: string, body: Api.ResolvePaymentBody, actor: string): FakePayment {
  const payment = paymentOf(state, id);
  const { action, invoiceId, reason } = body;
  const { status } = payment.body;
  const invoice = invoiceId === undefined ? undefined : state.invoices.get(invoiceId);
  if (action === "ASSIGN" && invoice === undefined) throw new Refused("INVOICE_NOT_FOUND");
  const isIgnored = status === "IGNORED";
  const isOpen = action === "REOPEN" ? isIgnored : status === "UNMATCHED" || (isIgnored && action === "ASSIGN");
  if (!isOpen || payment.body.invoiceId !== null) throw new Refused("PAYMENT_NOT_RESOLVABLE", { status });
  const at = timeOf(state);
  payment.resolution = { action, reason, actor, at };
  payment.body.updatedAt = at;
  if (invoice === undefined) {
    payment.body.status = action === "IGNORE" ? "IGNORED" : "UNMATCHED";
    return payment;
  }
  if (!isActive(invoice.body.status) && invoice.body.status !== "UNDERPAID")
    throw new Error(`${invoiceId} is ${invoice.body.status}: the fake does not do payments that come too late`);
  credit(invoice, payment, "MANUAL");
  payment.body.status = "CONFIRMED";
  payment.body.confirmedTxAt = at;
  const facts = { payment: payment.body };
  settle(state, invoice, [
    { type: "payment.matched", facts },
    { type: "payment.detected", facts },
    { type: "payment.confirmed", facts },
  ]);
  return payment;
}

function credit(invoice: FakeInvoice, payment: FakePayment, matchedBy: string): void {
  const { body, pair, units } = payment;
  body.invoiceId = invoice.body.id;
  body.matchedBy = matchedBy;
  body.fiatAmount = formatMicros(worthTo(invoice, pair, units));
  body.status = "DETECTED";
}

function chosenMethod(invoice: FakeInvoice, { cryptocurrency, network }: Transfer) {
  const { methods, body } = invoice;
  const fitting = methods.filter(
    ({ pair }) =>
      (cryptocurrency === undefined || pair.cryptocurrency === cryptocurrency) &&
      (network === undefined || pair.network === network),
  );
  const [method, another] = fitting;
  if (method === undefined || another !== undefined)
    throw new Error(
      `name the cryptocurrency and the network: ${body.id} has ${fitting.length} active methods of these`,
    );
  return method;
}

/** The rule by which the API credits it, if no other invoice waits at the address. */
function ruleOf(invoice: FakeInvoice, pair: Pair, units: bigint): string {
  const method = methodOf(invoice, pair);
  if ([method?.amountUnits, method?.restUnits].includes(units)) return "EXACT_AMOUNT";
  const { expectedMicros } = invoice;
  const value = worthTo(invoice, pair, units);
  if (value * 10n < expectedMicros || value > expectedMicros * 2n)
    throw new Error("less than a tenth or more than twice the price is credited to no invoice: use payUnmatched");
  const least = expectedMicros - underTolerance(expectedMicros);
  const isNear = least <= value && value <= expectedMicros + overTolerance(expectedMicros);
  return isNear ? "TOLERANCE" : "SOLE_CANDIDATE";
}

function newPayment(state: FakeState, pair: Pair, units: bigint): FakePayment {
  const { cryptocurrency, network } = pair;
  const wallet = state.wallets.find((each) => each.cryptocurrency === cryptocurrency && each.network === network);
  if (wallet?.address == null) throw new Error(`the fake has no wallet for ${cryptocurrency} on ${network}`);
  const { address, requiredConfirmations } = wallet;
  const at = timeOf(state);
  const id = state.newId("pay");
  const number = state.payments.size + 1;
  const hash = number.toString(16).padStart(64, "0");
  const body: Api.Payment = {
    id,
    invoiceId: null,
    merchantId: state.merchantId,
    chainId: pair.chainId,
    network: pair.network,
    currency: pair.cryptocurrency,
    txHash: pair.family === "evm" ? `0x${hash}` : hash,
    outputIndex: "0",
    fromAddress: pair.family === "evm" ? `0x${"0".repeat(39)}2` : null,
    toAddress: address,
    amount: formatUnits(units, pair.decimals),
    fiatAmount: null,
    status: "UNMATCHED",
    confirmations: 1,
    requiredConfirmations,
    blockHeight: number,
    isLate: false,
    matchedBy: null,
    receivedTxAt: at,
    confirmedTxAt: null,
    createdAt: at,
    updatedAt: at,
  };
  const payment: FakePayment = { body, pair, units, candidates: [], resolution: null };
  state.payments.set(id, payment);
  return payment;
}
