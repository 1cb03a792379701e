// Reads what is needed to place new transfers: one round trip for all of them, and two more for every 25 whose exact amount no invoice asks
// for. A thousand worthless transfers in one block must not use up the storage queries of a pass.
import type { Network } from "../../chains/networks.ts";
import { effectKey, isSameEffect, type Transfer, transferKey } from "../../chains/transfer.ts";
import { RELEASED_KEPT_MS } from "../../commerce/amounts/released.ts";
import { quoteSlackMs } from "../../commerce/invoices/quotes.ts";
import { timeOf } from "../../commerce/payments/chain-observation.ts";
import type { OpenInvoices } from "../../commerce/payments/match.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import type { MacKeys } from "../../commerce/wallets/row-mac.ts";
import type { InvoiceId, MerchantId, PaymentId } from "../../lib/ids.ts";
import { logAlert } from "../../lib/log.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Rank } from "../../platform/column-values.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { RateTable } from "../../rates/quote.ts";
import { readAround } from "./around/read-around.ts";
import {
  clockSlackMs,
  type DamagedTerms,
  isExact,
  type Place,
  type PlaceFacts,
  placeOf,
  type ReservedTerms,
  surelyFromMs,
  type Terms,
  unplaced,
} from "./placement.ts";
import { selectAddressOwners, selectExactAmounts, selectHolders, selectKnownTransfers } from "./store.ts";

export interface ReadDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly nowMs: number;
  readonly macKeys: MacKeys;
  /** Market rates; read only if a transfer is new. */
  table(): Promise<RateTable>;
}

/** A merchant with a live wallet on an address. */
export interface Holder {
  readonly address: string;
  readonly merchantId: MerchantId;
  readonly requiredConfirmations: number;
}

export interface Placed {
  readonly transfer: Transfer;
  readonly place: Place;
  /** The merchants with a wallet on its address. */
  readonly holders: readonly Holder[];
  /** Other merchants already have rows of it: it is stored only for this merchant. */
  readonly onlyFor?: MerchantId | undefined;
  /** Rows of another effect under its identity, of any merchant. */
  readonly supersedes: readonly Payment[];
}

/** A row, and whether two sources must agree before it is confirmed. */
export type KnownPayment = Payment & { readonly needsSecond: number };

export interface Places {
  /** By `effectKey`: the existing rows of a transfer, of one or several merchants. */
  readonly known: ReadonlyMap<string, readonly KnownPayment[]>;
  /** By `effectKey` of the transfer: rows under its identity with another effect. */
  readonly superseded: ReadonlyMap<string, readonly Payment[]>;
  /** Transfers without a row, or without a row of the merchant that named them. */
  readonly placed: readonly Placed[];
  /** Market rates when the new transfers were first seen; undefined if no transfer is new. */
  readonly table: RateTable | undefined;
}

/** `askedBy`: the merchant that named the transfers, if one did. */
export async function readPlaces(
  deps: ReadDependencies,
  network: Network,
  transfers: readonly Transfer[],
  askedBy?: MerchantId,
): Promise<Result<Places, Failure>> {
  if (transfers.length === 0) return ok({ known: new Map(), superseded: new Map(), placed: [], table: undefined });
  const identities = transfers.map(({ txHash, outputIndex }) => ({ txHash, outputIndex }));
  const amounts = transfers.map(({ cryptocurrency, toAddress, amountUnits }) => ({
    cryptocurrency,
    address: toAddress,
    units: amountUnits,
  }));
  const addresses = JSON.stringify([...new Set(transfers.map(({ toAddress }) => toAddress))]);
  const { name } = network;
  const read = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [
      selectKnownTransfers(deps.db, { network: name, list: JSON.stringify(identities) }),
      selectAddressOwners(deps.db, { network: name, list: addresses }),
      selectExactAmounts(deps.db, name, amounts),
      selectHolders(deps.db, { network: name, list: addresses }),
    ]),
  );
  if (!read.ok) return read;
  const [rows, owners, exact, holders] = read.value;
  const { known, superseded } = byEffect(
    transfers,
    rows.flatMap(({ row, needsSecond }) => (row === null ? [] : [{ ...row, needsSecond }])),
  );
  // A transfer with a damaged row is still known: nothing is written for it.
  const damaged = rows.filter(({ row }) => row === null);
  const damagedKeys = new Set(damaged.map(transferKey));
  if (damaged.length > 0) alertOfPayments(network, damaged);
  const fresh = transfers.filter((transfer) => {
    const rowsOfIt = known.get(effectKey(transfer));
    return !damagedKeys.has(transferKey(transfer)) && (rowsOfIt === undefined || isMissedBy(askedBy, rowsOfIt));
  });
  if (fresh.length === 0) return ok({ known, superseded, placed: [], table: undefined });
  const rates = { table: await deps.table(), nowMs: deps.nowMs };
  const facts = fresh.map((transfer) => ({ ...exactFacts(deps, network, transfer, { owners, exact }), rates }));
  const decided = facts.filter(isDecided);
  const around = await withAround(
    deps,
    network,
    facts.filter((each) => !isDecided(each)),
  );
  if (!around.ok) return around;
  const placed = [...decided, ...around.value].map((each) => {
    const { transfer } = each;
    const here = {
      transfer,
      holders: holders.filter(({ address }) => address === transfer.toAddress),
      supersedes: superseded.get(effectKey(transfer)) ?? [],
    };
    const place = placeOrUnmatched(each);
    if (askedBy === undefined || !known.has(effectKey(transfer))) return { ...here, place };
    return { ...here, place: placeOfMissed(place, askedBy), onlyFor: askedBy };
  });
  return ok({ known, superseded, placed, table: rates.table });
}

/**
 * The rows of each transfer, and those that the chain contradicts: the same identity, but another effect. A source that cannot say what was moved
 * contradicts nothing.
 */
function byEffect(transfers: readonly Transfer[], rows: readonly KnownPayment[]): Pick<Places, "known" | "superseded"> {
  const byIdentity = Map.groupBy(rows, transferKey);
  const known = new Map<string, readonly KnownPayment[]>();
  const superseded = new Map<string, readonly Payment[]>();
  for (const transfer of transfers) {
    const all = byIdentity.get(transferKey(transfer)) ?? [];
    const same = transfer.isUnexplained === true ? all : all.filter((row) => isSameEffect(row, transfer));
    if (same.length > 0) known.set(effectKey(transfer), same);
    if (same.length < all.length)
      superseded.set(
        effectKey(transfer),
        all.filter((row) => !same.includes(row)),
      );
  }
  return { known, superseded };
}

/** The place of one transfer. An unreadable row is logged and does not block the other transfers of the look. */
function placeOrUnmatched(facts: PlaceFacts): Place {
  const { transfer, network } = facts;
  try {
    const place = placeOf(facts);
    if (place.kind === "unmatched" && place.unreadable !== undefined) alert(network, transfer, place.unreadable);
    return place;
  } catch (error) {
    const place = unplaced(facts);
    const invoiceIds = place.refused.map(({ invoiceId }) => invoiceId);
    alert(network, transfer, invoiceIds, error instanceof Error ? error.name : "unknown");
    return place;
  }
}

/** Logs only ids and the kind of error: a message may quote the row's content. */
function alert(
  { name: network }: Network,
  { txHash, outputIndex }: Transfer,
  invoiceIds: readonly InvoiceId[],
  error?: string,
): void {
  const of = { network, txHash, outputIndex, invoiceIds, error };
  logAlert("a transfer stays unmatched: an invoice cannot be read", of);
}

function alertOfPayments({ name: network }: Network, payments: readonly { readonly id: PaymentId }[]): void {
  const of = { network, paymentIds: payments.map(({ id }) => id) };
  logAlert("known payments cannot be read", of);
}

/** The facts about a transfer from own addresses and exact amounts. */
function exactFacts(
  { nowMs, macKeys }: ReadDependencies,
  network: Network,
  transfer: Transfer,
  of: { readonly owners: readonly TermsRow[]; readonly exact: readonly ReservedRow[] },
): Omit<PlaceFacts, "rates"> {
  const atMs = timeOf(transfer, nowMs);
  const owners = of.owners.filter(({ address }) => address === transfer.toAddress);
  const exact = of.exact.filter((row) => {
    const { cryptocurrency, address, reservedUnits, reservedAtMs, heldUntilMs } = row;
    const held = { reservedUnits: BigInt(reservedUnits), reservedAtMs, heldUntilMs, method: { address } };
    return cryptocurrency === transfer.cryptocurrency && isExact({ network, transfer, atMs }, held);
  });
  const owner = owners.flatMap(termsOf)[0];
  const damaged = [
    ...owners.flatMap((row) => damagedOf({ ...row, rank: RANK_OF_OWNER }, null)),
    ...exact.flatMap((row) => damagedOf(row, row.reservedAtMs)),
  ];
  const reserved = exact.flatMap(reservedOf);
  return { network, transfer, atMs, macKeys, owner, reserved, damaged, openInvoices: NONE_OPEN, hasReleased: false };
}

/** Whether the place is decided without further reads. */
function isDecided(facts: PlaceFacts): boolean {
  const { owner, reserved, damaged, transfer, atMs } = facts;
  // An amount reserved after the payment's time competes with the other amounts asked for then.
  const isReserved = reserved.length > 0 && reserved.every((each) => surelyFromMs(facts, each.reservedAtMs) <= atMs);
  return owner !== undefined || isReserved || damaged.length > 0 || transfer.isUnexplained === true;
}

const NONE_OPEN: OpenInvoices = { 1: 0, 2: 0, 3: 0 };
/** An invoice's own address belongs to no other invoice, so the merchant's rank does not matter. */
const RANK_OF_OWNER: Rank = 1;

/** Adds the reservations around each amount to the facts. */
async function withAround(
  deps: ReadDependencies,
  network: Network,
  facts: readonly PlaceFacts[],
): Promise<Result<readonly PlaceFacts[], Failure>> {
  const wanted = facts.map(({ transfer, atMs }) => {
    const { cryptocurrency, toAddress: address, amountUnits: units } = transfer;
    const times = { atMs, openFromMs: atMs + clockSlackMs(network), slackMs: quoteSlackMs(network) };
    return { key: transferKey(transfer), cryptocurrency, address, units, ...times };
  });
  const read = await readAround(deps, network.name, wanted);
  if (!read.ok) return read;
  return ok(
    facts.map((each) => {
      const {
        rows = [],
        openInvoices = NONE_OPEN,
        hasReleased = false,
      } = read.value.get(transferKey(each.transfer)) ?? {};
      const damaged = rows.filter(({ isOpen }) => isOpen).flatMap((row) => damagedOf(row, null));
      const isForgotten = each.atMs < deps.nowMs - RELEASED_KEPT_MS;
      const reserved = [...each.reserved, ...rows.flatMap(reservedOf)];
      return { ...each, reserved, damaged, openInvoices, hasReleased: hasReleased || isForgotten };
    }),
  );
}

type TermsRow = Awaited<ReturnType<typeof selectAddressOwners>>[number];

type ReservedRow = Awaited<ReturnType<typeof selectExactAmounts>>[number];

/** Empty if the row is damaged. */
function termsOf({ method, invoice, quorumAboveMicros }: TermsRow): readonly Terms[] {
  if (method === null || invoice === null || !Number.isSafeInteger(quorumAboveMicros ?? 0)) return [];
  return [{ method, invoice, quorumAboveMicros: quorumAboveMicros === null ? null : BigInt(quorumAboveMicros) }];
}

function damagedOf(row: TermsRow & Pick<ReservedRow, "rank">, exactSinceMs: number | null): readonly DamagedTerms[] {
  const { invoiceId, merchantId, rank } = row;
  return termsOf(row).length === 0 ? [{ invoiceId, merchantId, rank, exactSinceMs }] : [];
}

function reservedOf(row: ReservedRow): readonly ReservedTerms[] {
  const { rank, reservedUnits, reservedAtMs, heldUntilMs } = row;
  const held = { rank, reservedUnits: BigInt(reservedUnits), reservedAtMs, heldUntilMs };
  return termsOf(row).map((terms) => ({ ...terms, ...held }));
}

/**
 * Whether a merchant may get its own row, for a user to decide about: all rows of the transfer belong to other merchants. The transfer exceeded
 * this merchant's daily limit, came before its wallet, or was credited to another merchant at the same address. The rules do not run again for
 * it, or they could credit it twice.
 */
function isMissedBy(merchantId: MerchantId | undefined, rows: readonly Pick<Payment, "merchantId">[]): boolean {
  if (merchantId === undefined) return false;
  return rows.every((row) => row.merchantId !== merchantId);
}

/** Its place for that merchant: not credited; if a rule would now choose the merchant's own invoice, that is a candidate. */
function placeOfMissed(place: Place, merchantId: MerchantId): Exclude<Place, { kind: "invoice" }> {
  if (place.kind === "unmatched") return place;
  if (place.kind === "dust") return place.merchantId === merchantId ? place : { kind: "unmatched", refused: [] };
  const { id: invoiceId, merchantId: owner } = place.terms.invoice;
  const refused = owner === merchantId ? [{ invoiceId, merchantId, reason: "AMBIGUOUS" as const }] : [];
  return { kind: "unmatched", refused };
}
