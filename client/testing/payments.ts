// Payments of the fake: made by a test, and decided by hand.
import { isSamePair, type Pair, pairOf } from "../../src/chains/registry/pair.ts";
import type { Transfer as ChainTransfer } from "../../src/chains/sources/transfer.ts";
import type { Invoice, InvoiceFile, PaymentMethod } from "../../src/commerce/invoice-records/invoice.ts";
import { settlementChange } from "../../src/commerce/invoices/settle-invoice.ts";
import {
  newPayment as newRow,
  observationOf,
  type Placement,
  paymentAfter,
  paymentEvents,
} from "../../src/commerce/payments/chain-observation.ts";
import { type Candidate, evidenceOf, matchDirect, type Refusal } from "../../src/commerce/payments/match.ts";
import type { Payment, PaymentResolution } from "../../src/commerce/payments/payment.ts";
import { type PaymentFile, paymentBodyOf } from "../../src/commerce/payments/payment-body.ts";
import { assigned, ignored, reopened, resolutionRefusal } from "../../src/commerce/payments/resolution.ts";
import { parseQuotes } from "../../src/commerce/quotes/quotes.ts";
import { UNPROVEN } from "../../src/commerce/ranks/rank.ts";
import { isActive } from "../../src/commerce/settlement/status.ts";
import { weighingOf } from "../../src/commerce/settlement/value.ts";
import { pricedOf } from "../../src/commerce/settlement/weighing.ts";
import { parseUnits } from "../../src/lib/money.ts";
import { isoTime } from "../../src/lib/time.ts";
import { fixedRateTable } from "../../src/rates/fixed-rates.ts";
import { microsFor, quoteRate } from "../../src/rates/quote.ts";
import { carryOut, currentFile, withRests } from "./changes.ts";
import { record } from "./events.ts";
import type { Transfer } from "./hand.ts";
import { Refused } from "./refusal.ts";
import type { Body } from "./requests.ts";
import type { FakeState } from "./state.ts";
import { pairNamed, walletFor } from "./wallets.ts";

/** A customer pays an invoice that awaits payment. */
export function pay(state: FakeState, invoiceId: string, transfer: Transfer): Payment {
  const file = currentFile(state, invoiceId);
  const { invoice } = file;
  if (!isActive(invoice.status))
    throw new Error(`${invoiceId} is ${invoice.status}: the fake does not do payments that come too late`);
  const method = chosenMethod(file, transfer);
  const amountUnits =
    transfer.amount === undefined
      ? (method.remainderUnits ?? method.amountUnits ?? 0n)
      : unitsOf(transfer.amount, method);
  const seen = transferOf(state, method, amountUnits);
  const marketMicros = valueIn(state, invoice.currency, method, amountUnits);
  const match = matchOf(state, file, { method, amountUnits, marketMicros });
  const placement = { kind: "CREDITED", invoiceId: invoice.id, matchedBy: match.matchedBy, marketMicros } as const;
  const payment = newPayment(state, method, seen, { placement, refused: [] });
  const change = settlementChange(file, state.now(), {
    ...(match.needsReview ? { columns: { needsReview: true } } : {}),
    payments: [payment],
    events: paymentEvents(undefined, payment).map((type) => ({ type, paymentId: payment.id })),
  });
  if (change === undefined) throw new Error(`${payment.id} changes nothing`);
  carryOut(state, file, withRests(state, file, change));
  return (transfer.isConfirmed ?? true) ? confirm(state, payment.id) : paymentOf(state, payment.id);
}

/** A transfer that matches no invoice. */
export function payUnmatched(state: FakeState, transfer: Transfer): Payment {
  const { cryptocurrency = "", network = "", amount = "" } = transfer;
  const pair = pairNamed({ cryptocurrency, network });
  if (pair === undefined) throw new TypeError("an unmatched payment needs a cryptocurrency and a network");
  const seen = transferOf(state, pair, unitsOf(amount, pair));
  const refused = [...state.invoices.values()].flatMap(({ invoice, methods }): readonly Refusal[] => {
    const isAsking = isActive(invoice.status) && methods.some((each) => isPayable(each) && isSamePair(each, pair));
    return isAsking ? [{ invoiceId: invoice.id, merchantId: invoice.merchantId, reason: "AMOUNT_DIFFERS" }] : [];
  });
  const payment = newPayment(state, pair, seen, { placement: { kind: "UNMATCHED" }, refused });
  state.payments.set(payment.id, payment);
  const data = JSON.stringify({ payment: paymentBodyOf(payment, []) });
  record(state, { type: "payment.unmatched", invoiceId: null, sequence: null, data });
  return payment;
}

/** Gives the payment's transfer the confirmations that it needs. */
export function confirm(state: FakeState, paymentId: string): Payment {
  const payment = paymentOf(state, paymentId);
  const { invoiceId, status, requiredConfirmations } = payment;
  if (status !== "DETECTED" || invoiceId === null)
    throw new Error(`${paymentId} is ${status}: only a payment that was detected can be confirmed`);
  const file = currentFile(state, invoiceId);
  const { network } = pairOf(payment);
  const heights = { tipHeight: heightOf(payment) + requiredConfirmations - 1, finalizedHeight: null };
  const after = paymentAfter(payment, observationOf({ block: blockOf(payment) }), {
    network,
    heights,
    nowMs: state.now(),
  });
  const change = settlementChange(file, state.now(), {
    payments: [after],
    events: paymentEvents(payment, after).map((type) => ({ type, paymentId: payment.id })),
  });
  if (change === undefined) throw new Error(`${paymentId} changes nothing`);
  carryOut(state, file, withRests(state, file, change));
  return paymentOf(state, paymentId);
}

export function paymentOf({ payments }: FakeState, id: string): Payment {
  const payment = payments.get(id);
  if (payment === undefined) throw new Refused({ code: "PAYMENT_NOT_FOUND" });
  return payment;
}

/** The payment, and the evidence that explains its state. */
export function paymentFileOf(state: FakeState, payment: Payment): PaymentFile {
  const asking = [...state.invoices.values()].map(({ invoice, methods }) => ({
    invoiceId: invoice.id,
    createdAtMs: invoice.createdAtMs,
    status: invoice.status,
    expiresAtMs: invoice.expiresAtMs,
    cancelledAtMs: invoice.cancelledAtMs,
    isOwnAddress: false,
    asked: methods
      .filter((method) => isSamePair(method, payment))
      .flatMap(({ quotes }) => parseQuotes(quotes).flatMap(({ amountUnits }) => amountUnits?.toString() ?? [])),
  }));
  const evidence = state.evidence.get(payment.id) ?? "{}";
  return { ...payment, evidence, tipHeight: null, finalizedHeight: null, claims: [], asking };
}

/** A decision by hand. `actor`: the key that decides. The evidence does not change. */
export function resolvePayment(
  state: FakeState,
  id: string,
  { action, invoiceId, reason, txHash }: Body<"resolvePayment">,
  actor: string,
): PaymentFile {
  const read = paymentFileOf(state, paymentOf(state, id));
  const known = state.invoices.get(invoiceId ?? "")?.invoice;
  const refusal = resolutionRefusal(read, action, known?.id);
  if (refusal !== undefined) throw new Refused(refusal);
  const made = { action, reason, actor, at: isoTime(state.now()) };
  const resolution = txHash === undefined ? made : { ...made, txHash };
  if (action === "ASSIGN") {
    if (known === undefined) throw new Refused({ code: "INVOICE_NOT_FOUND" });
    assign(state, currentFile(state, known.id), paymentOf(state, id), resolution);
  } else {
    const decided = action === "IGNORE" ? ignored : reopened;
    state.payments.set(id, decided(paymentOf(state, id), resolution, state.now()));
  }
  return { ...read, ...paymentOf(state, id) };
}

function assign(state: FakeState, file: InvoiceFile, payment: Payment, resolution: PaymentResolution): void {
  const { id: invoiceId, status, currency } = file.invoice;
  if (!isActive(status) && status !== "UNDERPAID")
    throw new Error(`${invoiceId} is ${status}: the fake does not do payments that come too late`);
  const active = file.methods.find((method) => isPayable(method) && isSamePair(method, payment));
  const requiredConfirmations = active?.requiredConfirmations ?? payment.requiredConfirmations;
  const credited = assigned({
    payment,
    invoiceId,
    marketMicros: valueIn(state, currency, payment, payment.amountUnits),
    requiredConfirmations,
    resolution,
    network: pairOf(payment).network,
    // By the time of the decision, the chain has grown enough to confirm the transfer.
    tipHeight: heightOf(payment) + requiredConfirmations - 1,
    finalizedHeight: null,
    mayConfirm: true,
    nowMs: state.now(),
  });
  const types = ["payment.matched" as const, ...paymentEvents(payment, credited)];
  const events = types.map((type) => ({ type, paymentId: payment.id }));
  const change = settlementChange(file, state.now(), { payments: [credited], events });
  if (change === undefined) throw new Error(`assigning ${payment.id} changes nothing`);
  carryOut(state, file, withRests(state, file, change));
}

function unitsOf(coins: string, pair: Pair): bigint {
  const { code, decimals } = pairOf(pair).asset;
  const units = parseUnits(coins, decimals);
  if (!units.ok) throw new TypeError(`${coins} is no amount of ${code}, which has ${decimals} fraction digits`);
  return units.value;
}

function isPayable({ status }: PaymentMethod): boolean {
  return status === "ACTIVE";
}

function chosenMethod({ invoice, methods }: InvoiceFile, { cryptocurrency, network }: Transfer): PaymentMethod {
  const fitting = methods.filter(
    (method) =>
      isPayable(method) &&
      (cryptocurrency === undefined || method.cryptocurrency === cryptocurrency) &&
      (network === undefined || method.network === network),
  );
  const [method, another] = fitting;
  if (method === undefined || another !== undefined)
    throw new Error(
      `name the cryptocurrency and the network: ${invoice.id} has ${fitting.length} active methods of these`,
    );
  return method;
}

/** The rule by which the service credits the transfer if no other invoice at the address awaits a payment. */
function matchOf(
  state: FakeState,
  file: InvoiceFile,
  of: { readonly method: PaymentMethod; readonly amountUnits: bigint; readonly marketMicros: bigint },
) {
  const { id: invoiceId, merchantId, amountMicros: expectedMicros, ...others } = file.invoice;
  const { underpaidToleranceMicros, overpaidToleranceMicros, createdAtMs, monitorUntilMs: untilMs } = others;
  const { method, amountUnits, marketMicros } = of;
  const { network, cryptocurrency } = method;
  const atMs = state.now();
  const time = { fromMs: createdAtMs, sinceMs: createdAtMs, surelyFromMs: createdAtMs, untilMs };
  const asked = [method.amountUnits, method.remainderUnits].filter((units) => units !== null);
  const paid = { network, cryptocurrency, amountUnits, receivedAtMs: atMs, marketMicros };
  const { micros: valueMicros } = weighingOf(paid, { expectedMicros, methods: [pricedOf(method, file.invoice)] });
  const candidate: Candidate = {
    invoiceId,
    merchantId,
    rank: UNPROVEN,
    held: asked.map((units) => ({ ...time, units })),
    expectedMicros,
    underpaidToleranceMicros,
    overpaidToleranceMicros,
    valueMicros,
    isOpen: true,
  };
  const match = matchDirect({ amountUnits, atMs, candidates: [candidate], openInvoices: { 1: 0, 2: 0, 3: 1 } });
  if (match.kind === "unmatched")
    throw new Error("less than a tenth or more than twice the price is credited to no invoice: use payUnmatched");
  return match;
}

/** The value of the units in a currency, at the fake's fixed price. */
function valueIn(state: FakeState, currency: Invoice["currency"], pair: Pair, units: bigint): bigint {
  const { rateCode, decimals } = pairOf(pair).asset;
  const nowMs = state.now();
  const quote = quoteRate({ table: fixedRateTable(nowMs), assetCode: rateCode, currency, nowMs });
  if (!quote.ok) throw new Error(`there is no price of ${rateCode} in ${currency}`);
  return microsFor({ units, rate: quote.value.rate, decimals });
}

/** A transfer in its own block, with one confirmation. */
function transferOf(state: FakeState, pair: Pair, amountUnits: bigint): ChainTransfer {
  const wallet = walletFor(state, pair);
  if (wallet?.address == null) throw new Error(`the fake has no wallet for ${pair.cryptocurrency} on ${pair.network}`);
  const isEvm = pairOf(pair).network.family === "evm";
  const height = state.payments.size + 1;
  const digits = height.toString(16).padStart(64, "0");
  const hash = isEvm ? `0x${digits}` : digits;
  return {
    cryptocurrency: pair.cryptocurrency,
    txHash: hash,
    outputIndex: "0",
    fromAddress: isEvm ? `0x${"0".repeat(39)}2` : null,
    toAddress: wallet.address,
    amountUnits,
    block: { height, hash, timeMs: state.now() },
    spends: [],
    raw: "{}",
  };
}

function newPayment(
  state: FakeState,
  pair: Pair,
  transfer: ChainTransfer,
  of: { readonly placement: Placement; readonly refused: readonly Refusal[] },
): Payment {
  const { network } = pairOf(pair);
  const { id: merchantId } = state.merchant;
  const evidence = evidenceOf(transfer, { merchantId, refused: of.refused, supersedes: [] });
  const { evidence: stored, ...payment } = newRow({
    id: state.newId("pay"),
    merchantId,
    transfer,
    placement: of.placement,
    requiredConfirmations: walletFor(state, pair)?.requiredConfirmations ?? 1,
    usdMicros: valueIn(state, "USD", pair, transfer.amountUnits),
    evidence,
    context: {
      network,
      heights: { tipHeight: transfer.block?.height ?? 0, finalizedHeight: null },
      nowMs: state.now(),
      // The test decides when the payment is confirmed.
      mayConfirm: false,
    },
  });
  state.evidence.set(payment.id, stored);
  return payment;
}

function heightOf({ blockHeight }: Payment): number {
  return blockHeight ?? 0;
}

function blockOf({ blockHeight, blockHash, blockTimeMs }: Payment): ChainTransfer["block"] {
  if (blockHeight === null || blockHash === null || blockTimeMs === null) return null;
  return { height: blockHeight, hash: blockHash, timeMs: blockTimeMs };
}
