// What an invoice adds to reports (decisions 13), computed from its rows. A change adds the difference between the invoice's entries before and after
// it. What was counted earlier is thereby subtracted from the same bucket, so the buckets always equal a recount of all rows.
import { minBig } from "../../lib/money.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { InvoiceStatus } from "../../platform/column-values.ts";
import type { Invoice, PaymentMethod, TimelineItem } from "../invoice-records/invoice.ts";
import { isAccepted } from "../invoice-records/resolution.ts";
import { isSeen, type Payment } from "../payments/payment.ts";
import { bucketOf, type Measure, membersOf, NO_COIN, type ReportEntry, type Sums } from "./bucket.ts";

/** No real asset has this many base units. A worthless token that anyone can mint may have more, and must not block changes to its invoice. */
const MOST_UNITS = 10n ** 33n;

type CountedPayment = Pick<
  Payment,
  "status" | "network" | "cryptocurrency" | "amountUnits" | "fiatMicros" | "receivedAtMs"
>;

/** The parts of an invoice that are counted. The timeline goes from the oldest item to the newest. */
export interface CountedFile {
  readonly invoice: Pick<Invoice, "id" | "createdAtMs" | "resolution">;
  readonly timeline: readonly Pick<TimelineItem, "paymentStatus" | "timeMs">[];
  readonly methods: readonly Pick<PaymentMethod, "activatedAtMs">[];
  readonly payments: readonly CountedPayment[];
}

/** What a change adds to the buckets. `before`: undefined for a new invoice. */
export function entriesOfChange(before: CountedFile | undefined, after: CountedFile): readonly ReportEntry[] {
  return differences(before === undefined ? [] : entriesOf(before), entriesOf(after));
}

/** What a change to a single payment's row adds to the buckets; nothing if the payment has no invoice. */
export function entriesOfPaymentChange(before: Payment, after: Payment): readonly ReportEntry[] {
  return differences(entriesOfRow(before), entriesOfRow(after));
}

function entriesOfRow(payment: Payment): readonly ReportEntry[] {
  return payment.invoiceId === null ? [] : paymentEntries(payment.invoiceId, payment);
}

/** All entries of an invoice, not yet added up. */
export function entriesOf({ invoice, timeline, methods, payments }: CountedFile): readonly ReportEntry[] {
  const { id: invoiceId } = invoice;
  const entry = (ms: number, sums: Partial<Sums>) => ({ invoiceId, ...NO_COIN, startsAtMs: bucketOf(ms), sums });
  const latest = timeline.at(-1);
  const status = latest === undefined ? undefined : STATUS_MEASURES[latest.paymentStatus];
  const toPaid = timeToPaid({ invoice, timeline, methods });
  return [
    entry(invoice.createdAtMs, { created: 1n }),
    ...(latest === undefined || status === undefined ? [] : [entry(latest.timeMs, { [status]: 1n })]),
    ...(toPaid === undefined
      ? []
      : [entry(toPaid.paidAtMs, { timed: 1n, secondsToPaid: secondsOf(toPaid.durationMs) })]),
    ...payments.flatMap((payment) => paymentEntries(invoiceId, payment)),
  ];
}

/** An invoice is counted by its current status, at the time it got that status. Open invoices count only as created. */
const STATUS_MEASURES: Readonly<Partial<Record<InvoiceStatus, Measure>>> = {
  PAID: "paid",
  OVERPAID: "overpaid",
  UNDERPAID: "underpaid",
  EXPIRED: "expired",
  CANCELLED: "cancelled",
};

const isPaid = ({ paymentStatus }: Pick<TimelineItem, "paymentStatus">) =>
  paymentStatus === "PAID" || paymentStatus === "OVERPAID";

/**
 * The time from the first activation of a payment method until the invoice last became paid, as PAID or OVERPAID;
 * unknown if a user's ACCEPT made it PAID.
 */
function timeToPaid({ invoice, timeline, methods }: Omit<CountedFile, "payments">) {
  const paid = timeline[timeline.findLastIndex((item) => !isPaid(item)) + 1];
  const picked = methods.flatMap(({ activatedAtMs }) => activatedAtMs ?? []);
  if (paid === undefined || picked.length === 0 || isAccepted(invoice.resolution)) return undefined;
  return { paidAtMs: paid.timeMs, durationMs: paid.timeMs - Math.min(...picked) };
}

/** Never negative, although the clocks of two requests may differ. */
function secondsOf(durationMs: number): bigint {
  return BigInt(Math.max(0, Math.floor(durationMs / SECOND_MS)));
}

/** A payment counts while it is on the chain or in a mempool, at its own time, even if it does not count for the invoice's status. */
function paymentEntries(invoiceId: ReportEntry["invoiceId"], payment: CountedPayment): readonly ReportEntry[] {
  if (!isSeen(payment)) return [];
  const { network, cryptocurrency, amountUnits, fiatMicros, receivedAtMs } = payment;
  const value = fiatMicros === null ? { unpriced: 1n } : { fiatMicros };
  const sums = { payments: 1n, units: minBig(amountUnits, MOST_UNITS), ...value };
  return [{ invoiceId, network, cryptocurrency, startsAtMs: bucketOf(receivedAtMs), sums }];
}

function differences(before: readonly ReportEntry[], after: readonly ReportEntry[]): readonly ReportEntry[] {
  const added = new Map<string, ReportEntry>();
  const add = (entry: ReportEntry, sign: bigint) => {
    const key = `${entry.startsAtMs} ${entry.network} ${entry.cryptocurrency}`;
    const sums: Partial<Record<Measure, bigint>> = { ...added.get(key)?.sums };
    for (const [measure, value] of membersOf(entry.sums)) sums[measure] = (sums[measure] ?? 0n) + sign * value;
    added.set(key, { ...entry, sums });
  };
  for (const entry of before) add(entry, -1n);
  for (const entry of after) add(entry, 1n);
  return [...added.values()].flatMap(({ sums, ...entry }) => {
    const changed = membersOf(sums).filter(([, value]) => value !== 0n);
    return changed.length === 0 ? [] : [{ ...entry, sums: Object.fromEntries(changed) }];
  });
}
