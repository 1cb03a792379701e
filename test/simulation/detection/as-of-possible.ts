// Removes from a history what cannot have happened: cancellations after a payment was seen, and readers who came too early.
import { type History, isAhead, type TransferFact } from "./as-of-facts.ts";
import { payeeOf, paymentTimeMs } from "./as-of-oracle.ts";

/**
 * A merchant who cancels has seen no payment, so payments to a cancelled invoice are read later. The cancellation is dropped if that is impossible:
 * because a payment was seen in a mempool, or in a block that is gone by then, or because the remaining amount was requested.
 */
export function withPossibleCancels(history: History): History {
  for (const invoice of history.invoices) {
    const { cancelledAtMs } = invoice;
    if (cancelledAtMs === null) continue;
    const own = history.transfers.filter(
      (each) => payeeOf(history, each, paymentTimeMs(each)).invoice?.id === invoice.id,
    );
    const isSeen = own.some((each) => earliestEndMs(each) <= cancelledAtMs + 1);
    if (isSeen) {
      const others = history.invoices.map((each) => (each.id === invoice.id ? { ...each, cancelledAtMs: null } : each));
      return withPossibleCancels({ ...history, invoices: others });
    }
    for (const each of own) {
      const at = history.transfers.indexOf(each);
      const transfers = history.transfers.with(at, {
        ...each,
        readFromMs: Math.max(each.readFromMs, cancelledAtMs + 1),
      });
      history = { ...history, transfers };
    }
  }
  return history;
}

/**
 * Lets readers request the quotes, at the service's prices. Payments of an invoice are then read after its last quote, except for one that paid a
 * part and led to a quote for the rest. If that is impossible, the history is unchanged.
 */
export function withReaders(history: History): History {
  const transfers: TransferFact[] = [];
  for (const transfer of history.transfers) {
    const { invoice } = payeeOf(history, transfer, paymentTimeMs(transfer));
    const lastMs = invoice?.asked.at(-1)?.atMs ?? 0;
    if (invoice === null || transfer.readByMs !== null) {
      if (transfer.readByMs !== null && transfer.readFromMs > transfer.readByMs) return history;
      transfers.push(transfer);
      continue;
    }
    if (earliestEndMs(transfer) <= lastMs + 1) return history;
    transfers.push({ ...transfer, readFromMs: Math.max(transfer.readFromMs, lastMs + 1) });
  }
  return { ...history, transfers, isAskedByReaders: true };
}

/**
 * The latest time at which the transfer can first be read. It is limited if the transfer was seen in a mempool, in a block with a future timestamp,
 * or in an orphaned block.
 */
function earliestEndMs({ pendingMs, blocks, readByMs }: TransferFact): number {
  const gone = blocks.flatMap(({ goneMs }) => (goneMs === null ? [] : [goneMs]));
  const ahead = blocks.filter(isAhead).map(({ visibleMs }) => visibleMs);
  return Math.min(pendingMs ?? Number.POSITIVE_INFINITY, readByMs ?? Number.POSITIVE_INFINITY, ...gone, ...ahead);
}
