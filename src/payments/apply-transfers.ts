// What a look at the chain makes of invoices and payments: transfers that were found, and payments that were looked at again. Safe to run
// twice, late or in parallel: a transfer is known by its identity, and every change goes through the lock of its invoice (reliability.md 3, 4).
// How it is done: `src/crediting`. What fails by a bug of ours stops no other: its new transfers are kept UNMATCHED for a person, and of its known
// payments the rows say what the chain says. What fails by a fault of storage fails the look: a cursor must not pass what was not stored.
import { assetOn, type Network } from "../chains/networks.ts";
import { type Credit, type CreditEffects, creditInvoice, type Seen } from "../crediting/credit-invoice.ts";
import { splitByRoom } from "../crediting/payment-room.ts";
import type { Place } from "../crediting/placement.ts";
import { type Placed, type ReadEffects, readPlaces } from "../crediting/read-places.ts";
import { isKept, recordSight, recordStrays, type Stray } from "../crediting/record-stray.ts";
import { d1Messages } from "../db/conflict.ts";
import { faultKind, readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { readGrowth, type WeighedLook } from "../growth/read-growth.ts";
import { fileOf, type InvoiceFile } from "../invoices/invoice.ts";
import { selectInvoiceRow } from "../invoices/store.ts";
import { MAX_WORTH_MICROS } from "../invoices/value.ts";
import type { InvoiceId, MerchantId } from "../lib/ids.ts";
import { maxBig, minBig } from "../lib/money.ts";
import { piecesOf } from "../lib/pieces.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { microsFor, quoteRate, type RateTable } from "../rates/quote.ts";
import type { Refusal } from "./match.ts";
import type { Payment } from "./payment.ts";
import { type ChainHeights, paymentAfter, type Sight, sightOf } from "./sight.ts";
import { type Transfer, transferKey } from "./transfer.ts";

/** A stored payment and what the chain says of it now. */
export interface SeenPayment {
  readonly payment: Payment;
  readonly sight: Sight;
  /** False where a second provider must agree first and has not (chains.md 1 f). */
  readonly mayConfirm?: boolean;
}

export interface Look {
  readonly network: Network;
  readonly heights: ChainHeights;
  /** Transfers to addresses that may be ours, mined or in a mempool. */
  readonly transfers: readonly Transfer[];
  /** Payments that were known before, as read from storage. */
  readonly seen: readonly SeenPayment[];
  /** Whether a second source could agree, so that large payments wait for it. */
  readonly hasSecond?: boolean;
}

export interface Applied {
  /** Invoices that were changed. */
  readonly invoices: readonly InvoiceId[];
  /** Rows without an invoice of which something was to be written. */
  readonly unmatched: number;
}

export interface ApplyEffects extends CreditEffects, ReadEffects {}

/** What a look holds for one invoice. */
interface Share {
  readonly merchantId: MerchantId;
  readonly credits: Credit[];
  readonly seen: Seen[];
}

/** How many transfers are read and written at once: what stands of a great look need not be done again. */
const AT_ONCE = 100;

/** All of it stands, or it is a failure and the same look may be applied again: what stands already then changes nothing. */
export async function applyTransfers(fx: ApplyEffects, look: Look): Promise<Result<Applied, Failure>> {
  const weighed = await readGrowth(fx, look.network, unique(look.transfers));
  if (!weighed.ok) return weighed;
  const { transfers, remainders, replaced, orphans } = weighed.value;
  const found = new Set([...transfers, ...remainders].map(transferKey));
  const dropped = new Set([...orphans, ...[...replaced.values()].flat()].map(({ id }) => id));
  const seen = look.seen.filter(({ payment }) => !found.has(transferKey(payment)) && !dropped.has(payment.id));
  const pieces = [
    ...[...piecesOf(orphans.map(asReplaced), AT_ONCE)].map((piece) => ({ transfers: [], seen: piece })),
    ...[...piecesOf(transfers, AT_ONCE)].map((piece) => ({ transfers: piece, seen: ownedOf(piece, replaced) })),
    ...[...piecesOf(remainders, AT_ONCE)].map((piece) => ({ transfers: piece, seen: [] })),
    ...[...piecesOf(seen, AT_ONCE)].map((piece) => ({ transfers: [], seen: piece })),
  ];
  const invoices = new Set<InvoiceId>();
  let unmatched = 0;
  for (const piece of pieces) {
    const applied = await applyPiece(fx, { ...look, ...piece, replaced }, look.seen);
    if (!applied.ok) return applied;
    for (const id of applied.value.invoices) invoices.add(id);
    unmatched += applied.value.unmatched;
  }
  return ok({ invoices: [...invoices], unmatched });
}

/** Growth that counts no more, because the transaction is known that brought it. */
const asReplaced = (payment: Payment): SeenPayment => ({ payment, sight: { kind: "replaced" } });

/** Of the growth that these explain, what invoices have: in one batch where it is the same invoice, and before the other's where it is not. */
function ownedOf(transfers: readonly Transfer[], replaced: WeighedLook["replaced"]): readonly SeenPayment[] {
  const explained = transfers.flatMap((transfer) => replaced.get(transferKey(transfer)) ?? []);
  return explained.filter(({ invoiceId }) => invoiceId !== null).map(asReplaced);
}

async function applyPiece(
  fx: ApplyEffects,
  look: Look & Pick<WeighedLook, "replaced">,
  asked: readonly SeenPayment[],
): Promise<Result<Applied, Failure>> {
  const { network } = look;
  const places = await readPlaces(fx, network, look.transfers);
  if (!places.ok) return places;
  const { known, placed, table } = places.value;
  const shares = new Map<InvoiceId, Share>();
  for (const { payment } of look.seen)
    if (payment.invoiceId !== null) shareOf(shares, payment.invoiceId, payment.merchantId);
  const strays: Placed[] = [];
  for (const each of placed) {
    const { transfer, place } = each;
    if (place.kind !== "invoice") {
      strays.push(each);
      continue;
    }
    const usdMicros = worthInUsd(fx, network, transfer, table);
    const mayConfirm = !(look.hasSecond === true && needsSecond(place));
    const { id, merchantId } = place.terms.invoice;
    const replaces = look.replaced.get(transferKey(transfer)) ?? [];
    shareOf(shares, id, merchantId).credits.push({ transfer, place, usdMicros, mayConfirm, replaces });
  }
  const sights = sightsOf(look, known, asked).filter((each) => isNews(fx, look, each));
  for (const seen of sights) {
    const { invoiceId, merchantId } = seen.payment;
    if (invoiceId !== null) shareOf(shares, invoiceId, merchantId).seen.push(seen);
  }
  const credited = await creditAll(fx, look, shares);
  const unmatched = await recordAll(fx, look, { strays: [...strays, ...credited.strays], sights, table });
  const kept = await keepRows(fx, look, credited.orphans);
  if (!kept.ok) return kept;
  if (credited.failure !== undefined) return err(credited.failure);
  return unmatched.ok ? ok({ invoices: credited.invoices, unmatched: unmatched.value }) : unmatched;
}

/** Whether something is to be written: most of what an overlap shows again is not, and costs no further read. */
function isNews(fx: ApplyEffects, { network, heights }: Look, { payment, sight, mayConfirm = true }: Seen): boolean {
  return paymentAfter(payment, sight, { network, heights, nowMs: fx.nowMs, mayConfirm }) !== payment;
}

/** A transfer that is mined and still in a mempool's list is mined. */
function unique(transfers: readonly Transfer[]): readonly Transfer[] {
  const byKey = new Map<string, Transfer>();
  for (const transfer of transfers) {
    const other = byKey.get(transferKey(transfer));
    if (other === undefined || other.block === null) byKey.set(transferKey(transfer), transfer);
  }
  return [...byKey.values()];
}

/** Known rows whose transfer was found, and those that were looked at; where both, what was found says it. */
function sightsOf(
  look: Look,
  known: ReadonlyMap<string, readonly Payment[]>,
  seen: readonly SeenPayment[],
): readonly Seen[] {
  const asked = new Map(seen.map((each) => [each.payment.id, each.mayConfirm]));
  const found = look.transfers.flatMap((transfer) =>
    (known.get(transferKey(transfer)) ?? []).map((payment) => {
      const mayConfirm = asked.get(payment.id) ?? (payment.status === "CONFIRMED" || look.hasSecond !== true);
      return { payment, sight: sightOf(transfer), mayConfirm };
    }),
  );
  return [...found, ...look.seen];
}

function shareOf(shares: Map<InvoiceId, Share>, id: InvoiceId, merchantId: MerchantId): Share {
  const share = shares.get(id) ?? { merchantId, credits: [], seen: [] };
  shares.set(id, share);
  return share;
}

/**
 * Invoice by invoice. What throws and is no fault of storage is a bug: its new transfers are kept as strays, for a person, so that one of them
 * cannot hold up all others for ever, and its known payments are handed back.
 */
async function creditAll(
  fx: ApplyEffects,
  { network, heights }: Look,
  shares: ReadonlyMap<InvoiceId, Share>,
): Promise<{
  readonly invoices: readonly InvoiceId[];
  readonly strays: readonly Placed[];
  readonly orphans: readonly Seen[];
  readonly failure: Failure | undefined;
}> {
  const invoices: InvoiceId[] = [];
  const strays: Placed[] = [];
  const orphans: Seen[] = [];
  let failure: Failure | undefined;
  for (const [id, { merchantId, credits, seen }] of shares) {
    try {
      const file = await readInvoice(fx, merchantId, id);
      if (!file.ok) {
        failure = file.error;
        continue;
      }
      const { taken, beyond } = splitByRoom(file.value.payments, network.name, credits);
      // Asked for where a person finds more to decide about, and not by every look that sees again what is too much to be kept.
      const isOver = await isKept(fx, beyond, { merchantId, network });
      if (!isOver.ok) {
        failure = isOver.error;
        continue;
      }
      const done = await creditInvoice(fx, file.value, {
        network,
        heights,
        credits: taken,
        seen,
        isOver: isOver.value,
      });
      if (!done.ok) failure = done.error;
      else if (done.value) invoices.push(id);
      if (done.ok) strays.push(...straysOf(beyond, { invoiceId: id, merchantId, reason: "TOO_MANY_PAYMENTS" }));
    } catch (error) {
      if (isStorageFault(error)) {
        failure = { code: "STORAGE_UNAVAILABLE" };
        continue;
      }
      console.error(
        JSON.stringify({ level: "error", alert: "payments of an invoice failed", invoiceId: id, error: wordOf(error) }),
      );
      strays.push(...straysOf(credits, { invoiceId: id, merchantId, reason: "AMBIGUOUS" }));
      orphans.push(...seen);
    }
  }
  return { invoices, strays, orphans, failure };
}

/** Transfers that the invoice whose they are does not take: its merchant's to decide. */
function straysOf(credits: readonly Credit[], refusal: Refusal): readonly Placed[] {
  return credits.map(({ transfer }) => ({ transfer, place: { kind: "stray", refused: [refusal] }, holders: [] }));
}

async function recordAll(
  fx: ApplyEffects,
  { network, heights, replaced }: Look & Pick<WeighedLook, "replaced">,
  of: { readonly strays: readonly Placed[]; readonly sights: readonly Seen[]; readonly table: RateTable | undefined },
): Promise<Result<number, Failure>> {
  const strays = of.strays.flatMap(({ transfer, place, holders }): readonly Stray[] =>
    place.kind === "invoice"
      ? []
      : [
          {
            ...{ transfer, place, holders, usdMicros: worthInUsd(fx, network, transfer, of.table) },
            replaces: replaced.get(transferKey(transfer)) ?? [],
          },
        ],
  );
  const recorded = await recordStrays(fx, strays, { network, heights });
  if (!recorded.ok) return recorded;
  let written = recorded.value;
  for (const { payment, sight } of of.sights.filter((seen) => seen.payment.invoiceId === null)) {
    const done = await recordSight(fx, payment, sight, { network, heights });
    if (!done.ok) return done;
    written += done.value ? 1 : 0;
  }
  return ok(written);
}

/**
 * The last resort for known payments: their rows, without a word to their invoices, which follow at their next change. Else a cursor would
 * pass a block that is gone, and what was in it would count for ever.
 */
async function keepRows(
  fx: ApplyEffects,
  { network, heights }: Look,
  orphans: readonly Seen[],
): Promise<Result<true, Failure>> {
  for (const { payment, sight, mayConfirm = true } of orphans) {
    const done = await recordSight(fx, payment, sight, { network, heights, mayConfirm, isSilent: true });
    if (!done.ok) return done;
  }
  return ok(true);
}

/** What the database refuses for the sake of a row is no fault of storage: it would be refused for ever. */
function isStorageFault(error: unknown): boolean {
  if (faultKind(error) !== "other") return true;
  const byDatabase = d1Messages(error).filter((message) => message.startsWith("D1_"));
  return byDatabase.length > 0 && !byDatabase.some((message) => /SQLITE_(CONSTRAINT|TOOBIG|MISMATCH)/.test(message));
}

async function readInvoice(
  fx: ApplyEffects,
  merchantId: MerchantId,
  id: InvoiceId,
): Promise<Result<InvoiceFile, Failure>> {
  const rows = await readWithRetry(fx.sleep, async () => selectInvoiceRow(fx.db, merchantId, id));
  if (!rows.ok) return rows;
  const [row] = rows.value;
  return row === undefined ? err({ code: "INVOICE_NOT_FOUND" }) : ok(fileOf(row));
}

/** Above the merchant's figure two providers must agree, by what is asked or by what was sent. */
function needsSecond({ terms, fiatMicros }: Extract<Place, { kind: "invoice" }>): boolean {
  const { quorumAboveMicros, invoice } = terms;
  return quorumAboveMicros !== null && maxBig(invoice.amountMicros, fiatMicros ?? 0n) >= quorumAboveMicros;
}

function worthInUsd(
  { nowMs }: ApplyEffects,
  network: Network,
  { cryptocurrency, amountUnits }: Transfer,
  table: RateTable | undefined,
): bigint | null {
  const asset = assetOn(network, cryptocurrency);
  if (asset === undefined || table === undefined) return null;
  const quote = quoteRate({ table, assetCode: asset.rateCode, currency: "USD", nowMs });
  if (!quote.ok) return null;
  const micros = microsFor({ units: amountUnits, rate: quote.value.rate, decimals: asset.decimals });
  return minBig(micros, MAX_WORTH_MICROS);
}

/** Messages of our own hold ids at most; a failed query's own holds what was bound. */
function wordOf(error: unknown): string {
  return error instanceof Error && !error.message.startsWith("Failed query") ? error.message : "a query failed";
}
