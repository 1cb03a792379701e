// Decides which drafts of a history are discarded: those whose result depends on facts that no reading could know.
import { type History, type InvoiceFact, isUnaskedRest, SHARED_ADDRESS, type TransferFact } from "./as-of-facts.ts";
import { asKnownAt, payeeOf, paymentTimeMs, weightOf } from "./as-of-oracle.ts";

type Kind = History["kind"];

/**
 * Whether the first reading of a transfer can know all facts that decide its result. It cannot know a quote or an invoice that is created after the
 * reading, even within the slack around the payment's time. It also cannot decide if the times of an orphaned block and the final one select
 * different invoices.
 */
export function isKnowable(history: History, transfer: TransferFact): boolean {
  const [first] = transfer.blocks;
  const shownMs = transfer.pendingMs ?? first?.visibleMs ?? 0;
  const known = asKnownAt(history, Math.max(shownMs, transfer.readFromMs));
  const timeMs = paymentTimeMs(transfer);
  const ofFirst = first === undefined ? timeMs : Math.min(first.timeMs, first.visibleMs);
  const firstMs = transfer.pendingMs ?? ofFirst;
  if (transfer.address !== SHARED_ADDRESS && !known.invoices.some(({ address }) => address === transfer.address))
    return false;
  const payees = [
    payeeOf(history, transfer, timeMs),
    payeeOf(known, transfer, timeMs),
    payeeOf(known, transfer, firstMs),
  ];
  const [{ invoice } = { invoice: null }, ...others] = payees;
  if (others.some((other) => other.invoice?.id !== invoice?.id)) return false;
  if (history.invoices.some((each) => isUnaskedRest(history, each, transfer))) return false;
  // Whether a transfer after which a remaining amount was requested belonged to that invoice and paid part of it.
  const isPart = transfer.readByMs === null || (invoice !== null && hasRestAfter(history.kind, invoice, transfer));
  if (!isPart) return false;
  const knownInvoice = known.invoices.find(({ id }) => id === invoice?.id);
  if (invoice === null || knownInvoice === undefined) return invoice === null;
  const all = weightOf(history.kind, invoice, transfer.units, timeMs);
  const then = weightOf(history.kind, knownInvoice, transfer.units, timeMs);
  const isShared = transfer.address === SHARED_ADDRESS;
  const isBefore = isShared && timeMs < invoice.openedMs && !all.by.startsWith("exact");
  return !isBefore && all.quote?.askedFromMs === then.quote?.askedFromMs;
}

function hasRestAfter(kind: Kind, invoice: InvoiceFact, transfer: TransferFact): boolean {
  const { quote } = weightOf(kind, invoice, transfer.units, paymentTimeMs(transfer));
  const rest = invoice.asked.at(-1);
  if (quote === null || rest === undefined) return false;
  return rest.forMicros === invoice.expectedMicros - (quote.forMicros * transfer.units) / quote.units;
}
