// Credits findings to their invoices, each merchant's first invoice before any merchant's second, until the budget is spent.
import { growthHeight, type Transfer, transferKey } from "../../chains/sources/transfer.ts";
import { readFile } from "../../commerce/invoices/change-invoice.ts";
import type { ChainObservation } from "../../commerce/payments/chain-observation.ts";
import type { Refusal } from "../../commerce/payments/match.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import { needsSecondSource } from "../../commerce/payments/quorum.ts";
import { chunksOf } from "../../lib/chunks.ts";
import type { InvoiceId } from "../../lib/ids.ts";
import { logAlert, safeMessage } from "../../lib/log.ts";
import { takingTurns } from "../../lib/turns.ts";
import { d1Messages } from "../../platform/db/conflict.ts";
import { faultKind } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { type Credit, type CreditDependencies, creditInvoice } from "./credit-invoice.ts";
import { creditTogether, type Share } from "./credit-together.ts";
import type { Progress, Seen } from "./look-progress.ts";
import { splitByRoom } from "./payment-room.ts";
import type { Placement } from "./placement.ts";
import type { Placed } from "./read-places.ts";
import { isKept, type UnmatchedContext } from "./record-unmatched.ts";
import { asSuperseded, stayingOf } from "./superseded.ts";

interface Credited {
  readonly invoices: readonly InvoiceId[];
  /** Transfers that their invoice does not accept. */
  readonly unmatched: readonly Placed[];
  /** Observations whose invoice could not be changed because of a bug. */
  readonly orphans: readonly Seen[];
  readonly failure: Failure | undefined;
}

/** The most credits in one change, because each of its events holds all payments of the invoice. */
const CREDITS_AT_ONCE = 100;

/** The findings, divided into shares of one invoice each; merchants take turns. An invoice with many credits has several shares. */
export function sharesOf(credits: readonly Credit[], seen: readonly Seen[]): readonly Share[] {
  const creditsOf = Map.groupBy(credits, ({ place }) => place.terms.invoice.id);
  const observed = seen.flatMap((each) =>
    each.payment.invoiceId === null ? [] : [{ ...each, id: each.payment.invoiceId }],
  );
  const seenOf = Map.groupBy(observed, ({ id }) => id);
  // An observation may remove growth that a credit of another invoice explains, so these invoices come first.
  const ids = [...new Set([...seenOf.keys(), ...creditsOf.keys()])];
  const shares = ids.flatMap((invoiceId): readonly Share[] => {
    const own = creditsOf.get(invoiceId) ?? [];
    const observations = seenOf.get(invoiceId) ?? [];
    const merchantId = own[0]?.place.terms.invoice.merchantId ?? observations[0]?.payment.merchantId;
    if (merchantId === undefined) return [];
    const [first = [], ...more] = chunksOf(own, CREDITS_AT_ONCE);
    return [first, ...more].map((some, n) => {
      const superseded = some.flatMap(stayingOf).map(asSuperseded);
      return { invoiceId, merchantId, credits: some, seen: n === 0 ? [...superseded, ...observations] : superseded };
    });
  });
  return takingTurns(shares, ({ merchantId }) => merchantId);
}

/** The most invoices in one batch, the same as in the sweep, and the most payments in it: each event holds all payments of its invoice. */
const INVOICES_AT_ONCE = 25;
const PAYMENTS_AT_ONCE = 100;

/** Groups shares that can be credited together, in the given order. Any other share is a group of its own. */
function lotsOf(shares: readonly Share[]): readonly (readonly Share[])[] {
  const lots: Share[][] = [];
  let open: Share[] = [];
  let size = 0;
  for (const share of shares) {
    const own = share.credits.length + share.seen.length;
    const isPlain = isPlainShare(share);
    const fits =
      open.length < INVOICES_AT_ONCE &&
      size + own <= PAYMENTS_AT_ONCE &&
      !open.some(({ invoiceId }) => invoiceId === share.invoiceId);
    if (!isPlain || !fits || open.length === 0) {
      open = [];
      size = 0;
      lots.push(open);
    }
    open.push(share);
    size += own;
    if (!isPlain) open = [];
  }
  return lots;
}

/**
 * Whether the share may be in one batch with others. One that supersedes rows or concerns growth may not: the result depends on what was stored
 * before about other invoices.
 */
function isPlainShare({ credits, seen }: Share): boolean {
  return (
    credits.every(
      ({ transfer, replaces, supersedes }) =>
        replaces.length === 0 && supersedes.length === 0 && growthHeight(transfer.txHash) === undefined,
    ) &&
    seen.every(
      ({ payment, observation }) =>
        observation.kind !== "superseded" &&
        observation.kind !== "replaced" &&
        growthHeight(payment.txHash) === undefined,
    )
  );
}

/**
 * Shares that depend on no other are credited together, and one by one only if that fails. An exception that is not a storage fault is a bug: the
 * invoice's new transfers are kept unmatched for a user, so that they do not block all others forever, and its known payments are returned as
 * `orphans`.
 */
export async function creditShares(
  deps: CreditDependencies,
  context: UnmatchedContext,
  shares: readonly Share[],
  progress: Progress,
): Promise<Credited> {
  const all: Collected = { invoices: [], unmatched: [], orphans: [], failure: undefined };
  for (const lot of lotsOf(shares)) {
    if (!progress.mayBegin()) {
      for (const share of lot) leave(share, progress);
      continue;
    }
    const together = await togetherOrNone(deps, context, lot);
    const { done, changed } = together === "unanswered" ? NONE : together;
    all.invoices.push(...changed);
    // One share may have caused the failure and must not delay the others. But if the database did not answer, only a few are tried.
    let mayFail = together === "unanswered" ? MOST_UNANSWERED : Number.POSITIVE_INFINITY;
    for (const [n, share] of lot.filter((each) => !done.has(each)).entries()) {
      // The lot was allowed to begin, so at least one of its shares is credited.
      if (!((n === 0 && done.size === 0) || progress.mayBegin())) {
        leave(share, progress);
        continue;
      }
      const failure = await creditAlone(deps, context, share, progress, all);
      all.failure = failure ?? all.failure;
      if (failure?.code === "STORAGE_UNAVAILABLE" && --mayFail === 0) break;
    }
  }
  return all;
}

/** If the database did not answer for a lot, its invoices are credited one by one, until this many of them got no answer either. */
const MOST_UNANSWERED = 2;
const NONE = { done: new Set<Share>(), changed: [] };

interface Collected {
  readonly invoices: InvoiceId[];
  readonly unmatched: Placed[];
  readonly orphans: Seen[];
  failure: Failure | undefined;
}

function leave({ credits, seen }: Share, progress: Progress): void {
  progress.leave(credits.map(({ transfer }) => transfer));
  progress.leaveSeen(seen);
}

/** A bug is only logged here: it occurs again when the share that causes it is credited alone. */
async function togetherOrNone(deps: CreditDependencies, context: UnmatchedContext, lot: readonly Share[]) {
  if (lot.length < 2) return NONE;
  try {
    return await creditTogether(deps, context, lot);
  } catch (error) {
    if (isStorageFault(error)) return "unanswered";
    logAlert("crediting invoices together failed; each is credited alone", { error: safeMessage(error) });
    return NONE;
  }
}

async function creditAlone(
  deps: CreditDependencies,
  context: UnmatchedContext,
  share: Share,
  progress: Progress,
  all: Collected,
): Promise<Failure | undefined> {
  const { invoiceId: id, merchantId, seen } = share;
  const credits = share.credits.map((each) => ({ ...each, replaces: progress.stillThere(each.replaces) }));
  try {
    const done = await creditShare(deps, context, { ...share, credits });
    if ("failure" in done) return done.failure;
    if (done.isChanged) {
      all.invoices.push(id);
      const written = credits.filter((each) => !done.beyond.includes(each));
      progress.noteRemoved(written.flatMap(({ replaces }) => replaces));
    }
    all.unmatched.push(...unmatchedOf(done.beyond, { invoiceId: id, merchantId, reason: "TOO_MANY_PAYMENTS" }));
  } catch (error) {
    if (isStorageFault(error)) return { code: "STORAGE_UNAVAILABLE" };
    const of = { invoiceId: id, error: safeMessage(error) };
    logAlert("crediting an invoice failed; its new transfers are kept unmatched", of);
    all.unmatched.push(...unmatchedOf(credits, { invoiceId: id, merchantId, reason: "AMBIGUOUS" }));
    all.orphans.push(...seen);
  }
  return undefined;
}

async function creditShare(
  deps: CreditDependencies,
  { network, heights, askedBy, quota }: UnmatchedContext,
  { invoiceId, merchantId, credits, seen }: Share,
): Promise<{ readonly failure: Failure } | { readonly isChanged: boolean; readonly beyond: readonly Credit[] }> {
  const file = await readFile(deps, merchantId, invoiceId);
  if (!file.ok) return { failure: file.error };
  const leaving = new Set(seen.flatMap(({ payment, observation }) => (endsRow(observation) ? [payment.id] : [])));
  const staying = file.value.payments.map(
    (payment): Payment => (leaving.has(payment.id) ? { ...payment, status: "DROPPED" } : payment),
  );
  // Transfers that replace stored rows come first, so that they are the last to exceed the invoice's limit.
  const ordered = credits.toSorted((a, b) => Number(b.supersedes.length > 0) - Number(a.supersedes.length > 0));
  const { taken, beyond } = splitByRoom(staying, network.name, ordered);
  // Marks the invoice for review only if a user gets a new row to decide about, not each time the watcher sees a transfer that is not kept.
  const isOver = await isKept(deps, beyond, { merchantId, network, askedBy, quota });
  if (!isOver.ok) return { failure: isOver.error };
  const findings = { network, heights, credits: taken, seen, isOver: isOver.value };
  const done = await creditInvoice(deps, file.value, findings);
  return done.ok ? { isChanged: done.value, beyond } : { failure: done.error };
}

const endsRow = ({ kind }: ChainObservation) => kind === "superseded" || kind === "replaced";

/** Transfers that their invoice does not accept: its merchant decides about them. */
function unmatchedOf(credits: readonly Credit[], refusal: Refusal): readonly Placed[] {
  return credits.map(({ transfer, supersedes }) => ({
    transfer,
    place: { kind: "unmatched", refused: [refusal] },
    holders: [],
    supersedes,
  }));
}

/** A constraint violation is not a storage fault: the database would refuse the row every time. */
function isStorageFault(error: unknown): boolean {
  if (faultKind(error) !== "other") return true;
  const byDatabase = d1Messages(error).filter((message) => message.startsWith("D1_"));
  return byDatabase.length > 0 && !byDatabase.some((message) => /SQLITE_(CONSTRAINT|TOOBIG|MISMATCH)/.test(message));
}

export function needsSecond({ terms, fiatMicros }: Extract<Placement, { kind: "invoice" }>): boolean {
  const { quorumAboveMicros, invoice } = terms;
  return needsSecondSource({ quorumAboveMicros, askedMicros: invoice.amountMicros, paidMicros: fiatMicros });
}

/** A transfer that is both mined and in a mempool list counts as mined. */
export function unique(transfers: readonly Transfer[]): readonly Transfer[] {
  const byKey = new Map<string, Transfer>();
  for (const transfer of transfers) {
    const other = byKey.get(transferKey(transfer));
    if (other === undefined || other.block === null) byKey.set(transferKey(transfer), transfer);
  }
  return [...byKey.values()];
}
