// Whether the watcher's final state matches the final chain.
import { assetOn, type Network } from "../../../src/chains/registry/networks.ts";
import { formatUnits } from "../../../src/lib/money.ts";
import { recountProblem, recountTables } from "../../support/report-recount.ts";
import { parseData, STORED_DATA } from "../../support/stored-data.ts";
import { expectedOf } from "./reorg-model.ts";
import type { Plan } from "./reorg-plan.ts";
import { effectOf, effectText, isStanding, keyOf, type Record } from "./reorg-record.ts";
import type { ReorgShop, Row } from "./reorg-shop.ts";

export type Verdict = string | undefined;

interface Judged {
  readonly shop: ReorgShop;
  readonly plan: Plan;
  readonly record: Record;
  count(name: string): void;
}

export function verdictOf(of: Judged): Verdict {
  const { shop, plan, record } = of;
  const payments = shop.rows("select * from payments");
  const times = new Map(payments.filter(isStanding).map((row) => [keyOf(row), row.received_at_ms]));
  const expected = expectedOf(plan.tree.last, plan.invoices, (key, finalMs) => Number(times.get(key) ?? finalMs));
  const events = eventsOf(shop);
  return (
    verdictOfInvoices(of, expected) ??
    verdictOfPayments(of, expected, payments) ??
    record.timeProblem(payments) ??
    // The test inserted the invoices, so the service counted none of them as created.
    recountProblem(
      recountTables((sql) => shop.rows(sql)),
      () => false,
    ) ??
    verdictOfNews(of, events) ??
    verdictOfChanges(of, events) ??
    record.evidenceProblem(payments) ??
    verdictOfRest(shop)
  );
}

type Expected = ReturnType<typeof expectedOf>;

function verdictOfPayments({ count }: Judged, { payments }: Expected, rows: readonly Row[]): Verdict {
  const found = new Set<string>();
  for (const row of rows) {
    const key = keyOf(row);
    const wanted = payments.get(key);
    if (row.final_at_ms === null) return `${key} is never final: ${row.status}`;
    if (!isStanding(row)) {
      count(wanted === undefined ? "payment gone" : "payment gone in one form");
      continue;
    }
    if (wanted === undefined) return `${key} is ${row.status} and not on the chain`;
    if (found.has(key)) return `${key} is two rows`;
    found.add(key);
    count(`payment ${row.status}`);
    const stands = [row.status, row.invoice_id, row.block_hash, effectOf(row), row.is_late].join(" ");
    const { status, invoiceId, blockHash, effect, isLate } = wanted;
    const should = [status, invoiceId, blockHash, effectText(effect), Number(isLate)].join(" ");
    if (stands !== should) return `${key} is ${stands}, not ${should}`;
  }
  const lost = [...payments.keys()].find((key) => !found.has(key));
  return lost === undefined ? undefined : `${lost} was never seen`;
}

function verdictOfInvoices({ shop, count }: Judged, { invoices }: Expected): Verdict {
  for (const row of shop.rows("select * from invoices")) {
    const wanted = invoices.get(String(row.id));
    if (wanted === undefined) return `${row.id} is nobody's`;
    count(`invoice ${row.status}`);
    const stands = [row.status, row.received_micros, row.confirmed_micros, row.is_late].join(" ");
    const { status, receivedMicros, isLate } = wanted;
    const should = [status, receivedMicros, receivedMicros, Number(isLate)].join(" ");
    if (stands !== should) return `${row.id} is ${stands}, not ${should}`;
    if (isLate && row.needs_review !== 1) return `${row.id} has late money and nobody is asked to look`;
  }
  return undefined;
}

interface Told {
  readonly row: Row;
  readonly said: Said;
}

/** The event data that is compared. */
interface Said {
  readonly payment?: SaidPayment;
  readonly invoice?: { readonly status: string; readonly isLate: boolean };
}

interface SaidPayment {
  readonly id: string;
  readonly amount: string;
  readonly currency: string;
  readonly toAddress: string;
}

function eventsOf(shop: ReorgShop): readonly Told[] {
  return shop
    .rows(`select type, invoice_id, sequence, created_at_ms, ${STORED_DATA} as data from events order by rowid`)
    .map((row) => ({ row, said: parseData<Said>(row.data) }));
}

const OF_PAYMENTS = new Set(["payment.detected", "payment.confirmed", "payment.reorged", "payment.dropped"]);

/** The last event of each credited payment and of each invoice must show its final state. */
function verdictOfNews({ shop, plan }: Judged, events: readonly Told[]): Verdict {
  for (const payment of shop.rows("select * from payments where invoice_id is not null")) {
    const { id, invoice_id, status } = payment;
    const own = events.filter(({ row, said }) => row.invoice_id === invoice_id && said.payment?.id === id);
    const heard = own.findLast(({ row }) => OF_PAYMENTS.has(String(row.type)))?.row.type;
    if (heard !== `payment.${String(status).toLowerCase()}`)
      return `${id} is ${status}, and ${heard} is the last of it`;
    const last = own.at(-1)?.said.payment;
    if (last === undefined || !shows(plan.network, last, payment))
      return `${id} is ${effectOf(payment)}, and ${last?.amount} ${last?.currency} to ${last?.toAddress} is the last of it`;
  }
  for (const { id, status, is_late, event_sequence } of shop.rows("select * from invoices")) {
    const last = events.find(({ row }) => row.invoice_id === id && row.sequence === event_sequence)?.said.invoice;
    if (last === undefined) continue;
    if (last.status !== status || Number(last.isLate) !== is_late)
      return `${id} is ${status}, and ${last.status} is the last of it`;
  }
  return undefined;
}

function shows(network: Network, { amount, currency, toAddress }: SaidPayment, row: Row): boolean {
  const code = String(row.cryptocurrency);
  const decimals = assetOn(network, code)?.decimals ?? 0;
  const units = formatUnits(BigInt(String(row.amount_units)), decimals);
  return amount === units && currency === code && toAddress === row.to_address;
}

/** A payment with an invoice must not silently become other coins, or another invoice's. */
function verdictOfChanges({ record }: Judged, events: readonly Told[]): Verdict {
  for (const { id, atMs, before, after } of record.changes) {
    const isTold = events.some(({ row, said }) => said.payment?.id === id && row.created_at_ms === atMs);
    if (!isTold)
      return `${id} was ${effectOf(before)} for ${before.invoice_id}, then ${effectOf(after)} for ${after.invoice_id}, and no event says so`;
  }
  return undefined;
}

/** The log of events must have no gap, and the network must no longer be watched. */
function verdictOfRest(shop: ReorgShop): Verdict {
  const [holes] = shop.rows(`select id from invoices where event_sequence <>
    (select count(*) from events where invoice_id = invoices.id)`);
  if (holes !== undefined) return `${holes.id} has not the events that it counts`;
  const [cursor] = shop.rows("select is_resting from network_cursors");
  return cursor?.is_resting === 1 ? undefined : "the watch does not end";
}
