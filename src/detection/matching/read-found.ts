// Reads what is known about transfers: their rows, the owners of the addresses and exact amounts they pay, and the holders of the addresses. One
// round trip for every 2,000 transfers, because during a flood each pass finds thousands.
import type { Network } from "../../chains/registry/networks.ts";
import { effectKey, isSameEffect, isToItself, type Transfer, transferKey } from "../../chains/sources/transfer.ts";
import { timeOf } from "../../commerce/payments/chain-observation.ts";
import type { OpenInvoices } from "../../commerce/payments/match.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import type { MacKeys } from "../../commerce/wallet-records/row-mac.ts";
import { chunksOf } from "../../lib/chunks.ts";
import type { MerchantId, PaymentId } from "../../lib/ids.ts";
import { logAlert } from "../../lib/log.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Rank } from "../../platform/column-values.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { RateTable } from "../../rates/quote.ts";
import { type DamagedTerms, isExact, type PlaceFacts, type ReservedTerms, type Terms } from "./placement.ts";
import {
  KNOWN_AT_ONCE,
  listOf,
  selectAddressOwners,
  selectExactAmounts,
  selectHolders,
  selectKnownTransfers,
  selectLeftOut,
  selectSettledTransfers,
  selectUnnamed,
} from "./store.ts";
import { blockOf } from "./unmatched/store.ts";

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

/** A transfer that must be placed, with the facts from invoices' own addresses and exact amounts. */
export interface Fresh {
  readonly transfer: Transfer;
  /** The merchants with a wallet on its address. */
  readonly holders: readonly Holder[];
  /** Set if other merchants already have rows for the transfer, which is therefore stored only for this merchant. */
  readonly onlyFor?: MerchantId | undefined;
  /** Rows with the transfer's identity but a different effect, of any merchant. */
  readonly supersedes: readonly Payment[];
  readonly facts: PlaceFacts;
}

/** A row, and whether two sources must agree before it is confirmed. */
export type KnownPayment = Payment & { readonly needsSecond: number };

export interface Found {
  /** The existing rows of each transfer, by its `effectKey`; several merchants may have one. */
  readonly known: ReadonlyMap<string, readonly KnownPayment[]>;
  /** Rows with a transfer's identity but a different effect, by the transfer's `effectKey`. */
  readonly superseded: ReadonlyMap<string, readonly Payment[]>;
  /**
   * Transfers without a row, or without a row of the merchant that named them; excludes those that were left out earlier and have not changed, unless
   * a merchant named them.
   */
  readonly fresh: readonly Fresh[];
  /** Transfers with more rows than one pass may hold: the next pass reads their rows, once the rows of the others are updated. */
  readonly left: readonly Transfer[];
  /** Market rates when the new transfers were first seen; undefined if no transfer is new. */
  readonly table: RateTable | undefined;
}

/** Transfers per round trip: about 400 KB as a parameter. */
const AT_ONCE = 2_000;

/** What is known about these transfers. `askedBy`: the merchant that named them, if one did. */
export async function readFound(
  deps: ReadDependencies,
  network: Network,
  transfers: readonly Transfer[],
  askedBy?: MerchantId,
): Promise<Result<Found, Failure>> {
  const known = new Map<string, readonly KnownPayment[]>();
  const superseded = new Map<string, readonly Payment[]>();
  const fresh: Fresh[] = [];
  const left: Transfer[] = [];
  let loose = 0;
  let table: RateTable | undefined;
  for (const chunk of chunksOf(transfers, AT_ONCE)) {
    if (loose >= KNOWN_AT_ONCE) {
      left.push(...chunk);
      continue;
    }
    const read = await readRows(deps, network, chunk, askedBy);
    if (!read.ok) return read;
    const { rows, leftOut, settled, ...facts } = read.value;
    loose += rows.filter(({ row }) => row?.invoiceId === null).length;
    const some = chunk.slice(0, wholeUntil(chunk, rows));
    left.push(...chunk.slice(some.length));
    for (const transfer of some) if (settled.has(transferKey(transfer))) known.set(effectKey(transfer), []);
    sortByEffect(some, rows, { known, superseded });
    // A transfer with a damaged row is still known: nothing is written for it.
    const damaged = rows.filter(({ row }) => row === null);
    const damagedKeys = new Set(damaged.map(transferKey));
    if (damaged.length > 0) alertOfPayments(network, damaged);
    // No other row of this transfer is removed either, because nothing would replace it.
    for (const transfer of some) if (damagedKeys.has(transferKey(transfer))) superseded.delete(effectKey(transfer));
    const decided = new Set(leftOut.map((row) => `${transferKey(row)} ${row.effect} ${row.blockHash}`));
    const isFresh = (transfer: Transfer) => {
      const key = transferKey(transfer);
      if (damagedKeys.has(key)) return false;
      const rowsOfIt = known.get(effectKey(transfer));
      if (rowsOfIt !== undefined) return settled.get(key) !== true && isMissedBy(askedBy, rowsOfIt);
      return askedBy !== undefined || !decided.has(`${effectKey(transfer)} ${blockOf(transfer)}`);
    };
    const placeable = some.filter(isFresh);
    if (placeable.length === 0) continue;
    table ??= await deps.table();
    const rates = { table, nowMs: deps.nowMs };
    for (const transfer of placeable) {
      const holders = facts.holders.get(transfer.toAddress) ?? [];
      const onlyFor = known.has(effectKey(transfer)) ? askedBy : undefined;
      const lost = facts.unnamed.get(transfer)?.flatMap(({ row }) => row ?? []) ?? [];
      const supersedes = [...(superseded.get(effectKey(transfer)) ?? []), ...lost];
      const exact = exactFacts(deps, network, transfer, facts);
      fresh.push({ transfer, holders, onlyFor, supersedes, facts: { ...exact, rates } });
    }
  }
  return ok({ known, superseded, fresh, left, table });
}

/**
 * The rows of each transfer, and those that the chain contradicts: the same identity, but a different effect. If the source cannot tell what was
 * moved, nothing is contradicted.
 */
function sortByEffect(
  transfers: readonly Transfer[],
  rows: readonly { readonly row: Payment | null; readonly needsSecond: number }[],
  into: { readonly known: Map<string, readonly KnownPayment[]>; readonly superseded: Map<string, readonly Payment[]> },
): void {
  const readable = rows.flatMap(({ row, needsSecond }) => (row === null ? [] : [{ ...row, needsSecond }]));
  const byIdentity = Map.groupBy(readable, transferKey);
  for (const transfer of transfers) {
    const all = byIdentity.get(transferKey(transfer)) ?? [];
    const isSame = (row: Payment) =>
      transfer.isUnexplained === true || (isSameEffect(row, transfer) && !isDisowned(row, transfer));
    const same = all.filter(isSame);
    if (same.length > 0) into.known.set(effectKey(transfer), same);
    if (same.length < all.length)
      into.superseded.set(
        effectKey(transfer),
        all.filter((row) => !isSame(row)),
      );
  }
}

/** Whether a rule credited the row before a source reported that the address pays itself. */
function isDisowned(row: Payment, transfer: Transfer): boolean {
  return isToItself(transfer) && !isToItself(row) && row.matchedBy !== null && row.matchedBy !== "MANUAL";
}

/**
 * How many of the transfers, from the first on, have all their rows among those read: if the statement stopped at its limit, rows of the last one may
 * be missing.
 */
function wholeUntil(
  transfers: readonly Transfer[],
  rows: readonly { readonly txHash: string; readonly outputIndex: string }[],
): number {
  const last = rows.length < KNOWN_AT_ONCE ? undefined : rows.at(-1);
  if (last === undefined) return transfers.length;
  return transfers.findIndex((transfer) => transferKey(transfer) === transferKey(last));
}

async function readRows(
  deps: ReadDependencies,
  { name }: Network,
  transfers: readonly Transfer[],
  askedBy: MerchantId | undefined,
) {
  const list = listOf(transfers);
  const amounts = transfers.map(({ cryptocurrency, toAddress, amountUnits }) => ({
    cryptocurrency,
    address: toAddress,
    units: amountUnits,
  }));
  const distinct = [...new Map(amounts.map((each) => [amountKeyOf(each), each])).values()];
  const addresses = JSON.stringify([...new Set(transfers.map(({ toAddress }) => toAddress))]);
  const read = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [
      selectKnownTransfers(deps.db, { network: name, list }),
      selectSettledTransfers(deps.db, { network: name, list, merchantId: askedBy ?? "" }),
      selectLeftOut(deps.db, { network: name, list }),
      selectAddressOwners(deps.db, { network: name, list: addresses }),
      selectExactAmounts(deps.db, name, distinct),
      selectHolders(deps.db, { network: name, list: addresses, merchantId: askedBy ?? "" }),
      selectUnnamed(deps.db, { network: name, list }),
    ]),
  );
  if (!read.ok) return read;
  const [rows, settled, leftOut, owners, exact, holders, unnamed] = read.value;
  return ok({
    rows,
    leftOut,
    unnamed: Map.groupBy(unnamed, ({ key }) => transfers[Number(key)]),
    settled: new Map(settled.map((row) => [transferKey(row), row.isOwn])),
    owners: Map.groupBy(owners, ({ address }) => address ?? ""),
    exact: Map.groupBy(exact, ({ cryptocurrency, address, reservedUnits: units }) =>
      amountKeyOf({ cryptocurrency, address: address ?? "", units }),
    ),
    holders: Map.groupBy(holders, ({ address }) => address),
  });
}

export function amountKeyOf(of: {
  readonly cryptocurrency: string;
  readonly address: string;
  readonly units: bigint | string;
}): string {
  return `${of.cryptocurrency} ${of.address} ${of.units}`;
}

function alertOfPayments({ name: network }: Network, payments: readonly { readonly id: PaymentId }[]): void {
  const of = { network, paymentIds: payments.map(({ id }) => id) };
  logAlert("known payments cannot be read", of);
}

/** The facts about a transfer from invoices' own addresses and exact amounts. */
function exactFacts(
  { nowMs, macKeys }: ReadDependencies,
  network: Network,
  transfer: Transfer,
  of: {
    readonly owners: ReadonlyMap<string, readonly TermsRow[]>;
    readonly exact: ReadonlyMap<string, readonly ReservedRow[]>;
  },
): Omit<PlaceFacts, "rates"> {
  const atMs = timeOf(transfer, nowMs);
  const { cryptocurrency, toAddress: address, amountUnits: units } = transfer;
  const owners = of.owners.get(address) ?? [];
  const exact = (of.exact.get(amountKeyOf({ cryptocurrency, address, units })) ?? []).filter(
    ({ reservedUnits, reservedAtMs, heldUntilMs }) => {
      const held = { reservedUnits: BigInt(reservedUnits), reservedAtMs, heldUntilMs, method: { address } };
      return isExact({ network, transfer, atMs }, held);
    },
  );
  const owner = owners.flatMap(termsOf)[0];
  const damaged = [
    ...owners.flatMap((row) => damagedOf({ ...row, rank: RANK_OF_OWNER }, null)),
    ...exact.flatMap((row) => damagedOf(row, row.reservedAtMs)),
  ];
  const reserved = exact.flatMap(reservedOf);
  return { network, transfer, atMs, macKeys, owner, reserved, damaged, openInvoices: NONE_OPEN, hasReleased: false };
}

export const NONE_OPEN: OpenInvoices = { 1: 0, 2: 0, 3: 0 };

/** An invoice's own address belongs to no other invoice, so the merchant's rank does not matter. */
const RANK_OF_OWNER: Rank = 1;

type TermsRow = Awaited<ReturnType<typeof selectAddressOwners>>[number];

type ReservedRow = Awaited<ReturnType<typeof selectExactAmounts>>[number];

/** Empty if the row is damaged. */
function termsOf({ method, invoice, quorumAboveMicros }: TermsRow): readonly Terms[] {
  if (method === null || invoice === null || !Number.isSafeInteger(quorumAboveMicros ?? 0)) return [];
  return [{ method, invoice, quorumAboveMicros: quorumAboveMicros === null ? null : BigInt(quorumAboveMicros) }];
}

export function damagedOf(
  row: TermsRow & Pick<ReservedRow, "rank">,
  exactSinceMs: number | null,
): readonly DamagedTerms[] {
  const { invoiceId, merchantId, rank } = row;
  return termsOf(row).length === 0 ? [{ invoiceId, merchantId, rank, exactSinceMs }] : [];
}

export function reservedOf(row: ReservedRow): readonly ReservedTerms[] {
  const { rank, reservedUnits, reservedAtMs, heldUntilMs } = row;
  const held = { rank, reservedUnits: BigInt(reservedUnits), reservedAtMs, heldUntilMs };
  return termsOf(row).map((terms) => ({ ...terms, ...held }));
}

/**
 * Whether a merchant may get its own row, for a user to decide about: all rows of the transfer belong to other merchants. The transfer exceeded this
 * merchant's daily limit, came before its wallet, or was credited to another merchant at the same address. The new row is never credited
 * (`placeOfMissed`), because the transfer could then be credited twice.
 */
function isMissedBy(merchantId: MerchantId | undefined, rows: readonly Pick<Payment, "merchantId">[]): boolean {
  if (merchantId === undefined) return false;
  return rows.every((row) => row.merchantId !== merchantId);
}
