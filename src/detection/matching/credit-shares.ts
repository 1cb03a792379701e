// Credits what one look found, invoice by invoice. A bug with one does not stop the others: its new transfers are kept UNMATCHED for a user, and the
// rows of its known payments are updated from the chain.
import type { Network } from "../../chains/networks.ts";
import { readFile } from "../../commerce/invoices/change-invoice.ts";
import type { ChainHeights } from "../../commerce/payments/chain-observation.ts";
import type { Refusal } from "../../commerce/payments/match.ts";
import type { InvoiceId, MerchantId } from "../../lib/ids.ts";
import { logAlert, safeMessage } from "../../lib/log.ts";
import { ok, type Result } from "../../lib/result.ts";
import { d1Messages } from "../../platform/db/conflict.ts";
import { faultKind } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { type Credit, type CreditDependencies, creditInvoice, type Seen } from "./credit-invoice.ts";
import { splitByRoom } from "./payment-room.ts";
import type { Placed } from "./read-places.ts";
import { isKept, recordObservation } from "./record-unmatched.ts";

/** What a look found in. */
interface Look {
  readonly network: Network;
  readonly heights: ChainHeights;
  readonly askedBy?: MerchantId | undefined;
}

/** The part of the findings that concerns one invoice. */
export interface Share {
  readonly merchantId: MerchantId;
  readonly credits: Credit[];
  readonly seen: Seen[];
}

/** The shares of these payments' invoices; payments without an invoice have none. */
export function sharesOf(seen: readonly Seen[]): Map<InvoiceId, Share> {
  const shares = new Map<InvoiceId, Share>();
  for (const each of seen) {
    const { invoiceId, merchantId } = each.payment;
    if (invoiceId !== null) shareOf(shares, invoiceId, merchantId).seen.push(each);
  }
  return shares;
}

export function shareOf(shares: Map<InvoiceId, Share>, id: InvoiceId, merchantId: MerchantId): Share {
  const share = shares.get(id) ?? { merchantId, credits: [], seen: [] };
  shares.set(id, share);
  return share;
}

/**
 * Credits invoice by invoice. An exception that is not a storage fault is a bug: the invoice's new transfers are kept unmatched for a user, so
 * that they do not block all others for ever, and its known payments are returned as `orphans`.
 */
export async function creditAll(
  deps: CreditDependencies,
  { network, heights, askedBy }: Look,
  shares: ReadonlyMap<InvoiceId, Share>,
): Promise<{
  readonly invoices: readonly InvoiceId[];
  readonly unmatchedPayments: readonly Placed[];
  readonly orphans: readonly Seen[];
  readonly failure: Failure | undefined;
}> {
  const invoices: InvoiceId[] = [];
  const unmatchedPayments: Placed[] = [];
  const orphans: Seen[] = [];
  let failure: Failure | undefined;
  for (const [id, { merchantId, credits, seen }] of shares) {
    try {
      const file = await readFile(deps, merchantId, id);
      if (!file.ok) {
        failure = file.error;
        continue;
      }
      const { taken, beyond } = splitByRoom(file.value.payments, network.name, credits);
      // Marks the invoice for review only if a user gets a new row to decide about, not each time the watcher sees a transfer that is not kept.
      const isOver = await isKept(deps, beyond, { merchantId, network, askedBy });
      if (!isOver.ok) {
        failure = isOver.error;
        continue;
      }
      const done = await creditInvoice(deps, file.value, {
        network,
        heights,
        credits: taken,
        seen,
        isOver: isOver.value,
      });
      if (!done.ok) failure = done.error;
      else if (done.value) invoices.push(id);
      if (done.ok)
        unmatchedPayments.push(...unmatchedOf(beyond, { invoiceId: id, merchantId, reason: "TOO_MANY_PAYMENTS" }));
    } catch (error) {
      if (isStorageFault(error)) {
        failure = { code: "STORAGE_UNAVAILABLE" };
        continue;
      }
      logAlert("crediting an invoice failed; its new transfers are kept unmatched", {
        invoiceId: id,
        error: safeMessage(error),
      });
      unmatchedPayments.push(...unmatchedOf(credits, { invoiceId: id, merchantId, reason: "AMBIGUOUS" }));
      orphans.push(...seen);
    }
  }
  return { invoices, unmatchedPayments, orphans, failure };
}

/** Transfers that their invoice does not accept: its merchant decides about them. */
function unmatchedOf(credits: readonly Credit[], refusal: Refusal): readonly Placed[] {
  return credits.map(({ transfer, supersedes = [] }) => ({
    transfer,
    place: { kind: "unmatched", refused: [refusal] },
    holders: [],
    supersedes,
  }));
}

/**
 * The fallback for known payments: updates only their rows; their invoices follow at their next change. Otherwise a cursor would pass a lost
 * block, and its payments would count for ever.
 */
export async function keepRows(
  deps: CreditDependencies,
  { network, heights }: Look,
  orphans: readonly Seen[],
): Promise<Result<true, Failure>> {
  for (const { payment, observation, mayConfirm = true } of orphans) {
    const done = await recordObservation(deps, payment, observation, { network, heights, mayConfirm, isSilent: true });
    if (!done.ok) return done;
  }
  return ok(true);
}

/** A constraint violation is not a storage fault: the database would refuse the row every time. */
function isStorageFault(error: unknown): boolean {
  if (faultKind(error) !== "other") return true;
  const byDatabase = d1Messages(error).filter((message) => message.startsWith("D1_"));
  return byDatabase.length > 0 && !byDatabase.some((message) => /SQLITE_(CONSTRAINT|TOOBIG|MISMATCH)/.test(message));
}
