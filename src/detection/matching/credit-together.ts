// Credits many invoices in one batch. A busy network's block pays dozens of invoices, and crediting each alone takes a read, a batch and about ten
// statements. Only plain findings are joined: those whose change depends on no other invoice. All others are credited one invoice at a time.
import type { Network } from "../../chains/registry/networks.ts";
import { fileOf, type InvoiceFile } from "../../commerce/invoice-records/invoice.ts";
import { selectInvoiceRows } from "../../commerce/invoice-records/store.ts";
import { buildChange, commitAll } from "../../commerce/invoices/change-invoice.ts";
import { needsAmount } from "../../commerce/payment-methods/reserve-remainder.ts";
import type { InvoiceId, MerchantId } from "../../lib/ids.ts";
import { SYSTEM_TRAIL } from "../../platform/audit/entry.ts";
import type { Committed } from "../../platform/db/commit-batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { countOnce } from "../growth/read-growth.ts";
import {
  type Credit,
  type CreditDependencies,
  decideCredits,
  newOnce,
  notePaid,
  stateAfter,
  withRemainders,
} from "./credit-invoice.ts";
import type { Seen } from "./look-progress.ts";
import { splitByRoom } from "./payment-room.ts";
import type { UnmatchedContext } from "./record-unmatched.ts";
import { recountGap } from "./store.ts";

/** The part of the findings that concerns one invoice. */
export interface Share {
  readonly invoiceId: InvoiceId;
  readonly merchantId: MerchantId;
  readonly credits: readonly Credit[];
  readonly seen: readonly Seen[];
}

interface Together {
  /** Shares whose findings are stored, whether or not they changed their invoice. */
  readonly done: ReadonlySet<Share>;
  readonly changed: readonly InvoiceId[];
}

/**
 * Credits all or none of the invoices that it can decide without further reads; the caller credits the others alone. `unanswered`: the database did
 * not confirm whether it stored them. Throws only for a bug.
 */
export async function creditTogether(
  deps: CreditDependencies,
  { network, heights }: Pick<UnmatchedContext, "network" | "heights">,
  lot: readonly Share[],
): Promise<Together | "unanswered"> {
  const ids = lot.map(({ invoiceId }) => invoiceId);
  const rows = await readWithRetry(deps.sleep, async () => selectInvoiceRows(deps.db, ids));
  if (!rows.ok) return "unanswered";
  const files = new Map(rows.value.map((row) => [row.id, fileOf(row)]));
  const done = new Set<Share>();
  const decided: Decided[] = [];
  for (const share of lot) {
    const file = files.get(share.invoiceId);
    if (file === undefined || !isAccepted(file, share, network)) continue;
    const operationId = deps.newOperationId();
    const findings = { network, heights, credits: share.credits, seen: share.seen };
    const credits = decideCredits(deps, file, findings, operationId);
    // The amount reserved for the rest must differ from those that other invoices in the lot get, so this share is credited alone.
    if (credits !== undefined && needsAmount(file, stateAfter(file, credits.change))) continue;
    done.add(share);
    if (credits !== undefined) decided.push({ file, operationId, ...credits });
  }
  const kind = await commitDecided(deps, network, decided);
  if (kind === "unknown") return "unanswered";
  if (kind === "conflict") return { done: new Set(), changed: [] };
  return { done, changed: decided.map(({ file }) => file.invoice.id) };
}

/** Whether the invoice is the merchant's and accepts all credits of the share. */
function isAccepted({ invoice, payments }: InvoiceFile, { merchantId, credits }: Share, network: Network): boolean {
  return invoice.merchantId === merchantId && splitByRoom(payments, network.name, credits).beyond.length === 0;
}

type Decided = NonNullable<ReturnType<typeof decideCredits>> & {
  readonly file: InvoiceFile;
  readonly operationId: string;
};

async function commitDecided(
  deps: CreditDependencies,
  network: Network,
  decided: readonly Decided[],
): Promise<Committed["kind"]> {
  const context = { ...deps, trail: SYSTEM_TRAIL };
  const built = [];
  for (const { file, operationId, change } of decided) {
    const wasPaid = file.invoice.status === "PAID";
    const whole = await withRemainders(deps, file, change);
    built.push({ operationId, wasPaid, ...buildChange(context, file, whole, operationId) });
  }
  const fresh = decided.flatMap((each) => each.fresh);
  const walletIds = [...new Set(decided.flatMap((each) => each.walletIds))];
  const kind = await commitAll(deps, built, {
    asserts: [
      ...newOnce(deps.db, network, fresh),
      ...countOnce(deps.db, network, [...fresh, ...decided.flatMap(({ coming }) => coming)], []),
    ],
    after: walletIds.map((walletId) => recountGap(deps.db, walletId)),
  });
  if (kind === "committed") for (const { file, wasPaid } of built) if (!wasPaid) notePaid(deps, file, network.name);
  return kind;
}
