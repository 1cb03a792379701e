// Credits many invoices in one batch. A busy network's block pays dozens of invoices, and each alone needs a read, a batch and some ten statements. Only
// plain findings are joined: those whose change depends on no other invoice. Whatever cannot be joined is credited alone, as if this did not exist.
import type { Network } from "../../chains/registry/networks.ts";
import { fileOf, type InvoiceFile } from "../../commerce/invoice-records/invoice.ts";
import { selectInvoiceRows } from "../../commerce/invoice-records/store.ts";
import { buildChange } from "../../commerce/invoices/change-invoice.ts";
import { needsAmount } from "../../commerce/payment-methods/reserve-remainder.ts";
import type { ChainHeights } from "../../commerce/payments/chain-observation.ts";
import { derivedId, type InvoiceId, type MerchantId } from "../../lib/ids.ts";
import { SYSTEM_TRAIL } from "../../platform/audit/entry.ts";
import { commitChange } from "../../platform/changes/commit-change.ts";
import { joinStatements } from "../../platform/db/joined-statements.ts";
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
import { recountGap } from "./store.ts";

/** The part of the findings that concerns one invoice. */
export interface Share {
  readonly invoiceId: InvoiceId;
  readonly merchantId: MerchantId;
  readonly credits: readonly Credit[];
  readonly seen: readonly Seen[];
}

interface Context {
  readonly network: Network;
  readonly heights: ChainHeights;
}

interface Together {
  /** Those that are stored as found, whether their invoice changed or not. */
  readonly done: ReadonlySet<Share>;
  readonly changed: readonly InvoiceId[];
  /** The database did not answer: crediting them one by one would only burden it further. */
  readonly isUnanswered?: true;
}

/** All or none of those that it can decide without reading more; the caller credits the others alone. Throws what a bug throws. */
export async function creditTogether(
  deps: CreditDependencies,
  { network, heights }: Context,
  lot: readonly Share[],
): Promise<Together> {
  const ids = lot.map(({ invoiceId }) => invoiceId);
  const rows = await readWithRetry(deps.sleep, async () => selectInvoiceRows(deps.db, ids));
  if (!rows.ok) return { done: new Set(), changed: [], isUnanswered: true };
  const files = new Map(rows.value.map((row) => [row.id, fileOf(row)]));
  const done = new Set<Share>();
  const decided: Decided[] = [];
  for (const share of lot) {
    const file = files.get(share.invoiceId);
    if (file === undefined || splitByRoom(file.payments, network.name, share.credits).beyond.length > 0) continue;
    const operationId = deps.newOperationId();
    const findings = { network, heights, credits: share.credits, seen: share.seen };
    const credits = decideCredits(deps, file, findings, operationId);
    // An amount for the rest must be free beside those that others of the lot take.
    if (credits !== undefined && needsAmount(file, stateAfter(file, credits.change))) continue;
    done.add(share);
    if (credits !== undefined) decided.push({ file, operationId, ...credits });
  }
  const kind = await commitAll(deps, network, decided);
  return kind === "conflict" ? { done: new Set(), changed: [] } : { done, ...kind };
}

type Decided = NonNullable<ReturnType<typeof decideCredits>> & {
  readonly file: InvoiceFile;
  readonly operationId: string;
};

async function commitAll(
  deps: CreditDependencies,
  network: Network,
  decided: readonly Decided[],
): Promise<"conflict" | Pick<Together, "changed" | "isUnanswered">> {
  const [first] = decided;
  if (first === undefined) return { changed: [] };
  const context = { ...deps, trail: SYSTEM_TRAIL };
  const built = [];
  for (const { file, operationId, change } of decided)
    built.push(buildChange(context, file, await withRemainders(deps, file, change), operationId));
  const fresh = decided.flatMap((each) => each.fresh);
  const walletIds = new Set(decided.flatMap((each) => each.walletIds));
  const { kind } = await commitChange(deps, derivedId("aud", first.operationId), [
    ...newOnce(deps.db, network, fresh),
    ...countOnce(deps.db, network, [...fresh, ...decided.flatMap(({ coming }) => coming)], []),
    ...joinStatements(built.map(({ statements }) => statements)),
    ...[...walletIds].map((walletId) => recountGap(deps.db, walletId)),
  ]);
  if (kind === "conflict") return kind;
  if (kind === "unknown") return { changed: [], isUnanswered: true };
  for (const [n, { file }] of built.entries())
    if (decided[n]?.file.invoice.status !== "PAID") notePaid(deps, file, network.name);
  return { changed: decided.map(({ file }) => file.invoice.id) };
}
