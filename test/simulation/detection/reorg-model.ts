// The expected invoices and payments, as a function of the final chain alone: it does not matter which watcher read the chain, when, or through which
// source. Written from decisions 4 and 5, not from the service.
import { chainOf, type Output, type View } from "./chain-tree.ts";
import { isOfMany, RATES, type TreeInvoice } from "./reorg-shop.ts";

interface ExpectedPayment {
  readonly status: "CONFIRMED" | "UNMATCHED" | "IGNORED";
  readonly invoiceId: string | null;
  readonly blockHash: string;
  /** The effect in the block that is now on the chain, whatever another block, a mempool or a lying source showed for the same output. */
  readonly effect: Output;
  readonly isLate: boolean;
}

interface ExpectedInvoice {
  readonly status: string;
  readonly receivedMicros: bigint;
  readonly isLate: boolean;
}

interface Expected {
  /** By `txHash:ordinal`. */
  readonly payments: ReadonlyMap<string, ExpectedPayment>;
  readonly invoices: ReadonlyMap<string, ExpectedInvoice>;
}

/**
 * `timeOf`: the payment's time of a transfer (`txHash:ordinal`) in a block of the final chain. It depends on when the transfer was first seen, which
 * is the only fact that the final chain does not show; `reorg-record.ts` checks it.
 */
export function expectedOf(
  last: View,
  invoices: readonly TreeInvoice[],
  timeOf: (key: string, finalMs: number) => number,
): Expected {
  const payments = new Map<string, ExpectedPayment>();
  const counted = new Map<string, bigint>(invoices.map(({ id }) => [id, 0n]));
  const late = new Set<string>();
  for (const { ref, mined } of chainOf(last.tip)) {
    for (const { transaction, outputs, isReverted } of mined) {
      for (const [n, output] of isReverted ? [] : outputs.entries()) {
        if (!invoices.some(({ address }) => address === output.toAddress)) continue;
        const invoice = payeeOf(output, invoices);
        const isLate = invoice !== undefined && isLateAt(invoice, timeOf(`${transaction.hash}:${n}`, ref.timeMs));
        payments.set(`${transaction.hash}:${n}`, {
          status: invoice === undefined ? statusOfUnmatched(output) : "CONFIRMED",
          invoiceId: invoice?.id ?? null,
          blockHash: ref.hash,
          effect: output,
          isLate,
        });
        if (invoice === undefined) continue;
        if (isLate) late.add(invoice.id);
        else counted.set(invoice.id, (counted.get(invoice.id) ?? 0n) + output.amountUnits);
      }
    }
  }
  return {
    payments,
    invoices: new Map(
      invoices.map((invoice) => {
        const receivedMicros = valueFor(invoice, counted.get(invoice.id) ?? 0n);
        const status = statusOf(invoice, receivedMicros);
        return [invoice.id, { status, receivedMicros, isLate: late.has(invoice.id) }];
      }),
    ),
  };
}

/** The invoice that a transfer pays: by its own address, or by the exact amount at a shared one. Dust pays no invoice. */
function payeeOf(output: Output, invoices: readonly TreeInvoice[]): TreeInvoice | undefined {
  const { toAddress, cryptocurrency, amountUnits } = output;
  if (isOfMany(toAddress)) {
    const here = invoices.filter((each) => each.address === toAddress && each.cryptocurrency === cryptocurrency);
    return here.find(({ askedUnits }) => askedUnits === amountUnits);
  }
  const own = invoices.find(({ address }) => address === toAddress);
  return own === undefined || isDust(own, amountUnits) ? undefined : own;
}

function isDust(invoice: TreeInvoice, amountUnits: bigint): boolean {
  return amountUnits < 546n || valueFor(invoice, amountUnits) * 100n < invoice.expectedMicros;
}

/** Which uncredited transfers are ignored as dust: those to an invoice's own address or below 0.10 USD. All others need review. */
function statusOfUnmatched({ toAddress, cryptocurrency, amountUnits }: Output): "UNMATCHED" | "IGNORED" {
  if (!isOfMany(toAddress)) return "IGNORED";
  const coinUnits = cryptocurrency === "ETH" ? 10n ** 18n : 1_000_000n;
  const rate = BigInt(cryptocurrency === "ETH" ? RATES.ETH : RATES.USDT);
  return amountUnits * rate * 10n < coinUnits ? "IGNORED" : "UNMATCHED";
}

/** Dust is not credited and not shown, so it is not looked up again, even if a source invented it. */
export function isWorthless(output: Output, invoices: readonly TreeInvoice[]): boolean {
  return payeeOf(output, invoices) === undefined && statusOfUnmatched(output) === "IGNORED";
}

function isLateAt(invoice: TreeInvoice, atMs: number): boolean {
  if (atMs <= invoice.expiresAtMs) return false;
  return invoice.latePaymentPolicy === "REVIEW" || atMs > invoice.monitorUntilMs;
}

function valueFor({ expectedMicros, askedUnits }: TreeInvoice, units: bigint): bigint {
  if (askedUnits !== null) return (expectedMicros * units) / askedUnits;
  const micros = (units * BigInt(RATES.BTC) * 1_000_000n) / 100_000_000n;
  return units > 0n && micros === 0n ? 1n : micros;
}

function statusOf(invoice: TreeInvoice, confirmedMicros: bigint): string {
  const { expectedMicros, underpaidToleranceMicros, overpaidToleranceMicros } = invoice;
  if (expectedMicros > 0n && confirmedMicros > expectedMicros + overpaidToleranceMicros) return "OVERPAID";
  if (confirmedMicros > 0n && confirmedMicros >= expectedMicros - underpaidToleranceMicros) return "PAID";
  return confirmedMicros > 0n ? "UNDERPAID" : "EXPIRED";
}
