// Reads what is needed to tell where new transfers belong: one round trip for all of them, and one more for each that nobody asked for exactly.
import type { Network } from "../chains/networks.ts";
import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import type { MerchantId } from "../lib/ids.ts";
import { ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import { DAY_MS } from "../lib/time.ts";
import type { Payment } from "../payments/payment.ts";
import { type Transfer, transferKey } from "../payments/transfer.ts";
import type { MacKeys } from "../wallets/row-mac.ts";
import { isExact, type Place, placeOf, type ReservedTerms, type Terms } from "./placement.ts";
import {
  selectActiveInvoices,
  selectAddressOwners,
  selectExactAmounts,
  selectHolders,
  selectKnownTransfers,
  selectNearAmounts,
} from "./store.ts";

export interface ReadEffects {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly nowMs: number;
  readonly macKeys: MacKeys;
}

/** A merchant with a live wallet on an address. */
export interface Holder {
  readonly address: string;
  readonly merchantId: MerchantId;
  readonly requiredConfirmations: number;
  /** UNMATCHED rows that it has there today. */
  readonly strays: number;
}

export interface Placed {
  readonly transfer: Transfer;
  readonly place: Place;
  /** Who has a wallet on its address. */
  readonly holders: readonly Holder[];
}

export interface Places {
  /** By `transferKey`: the rows that a transfer has already, of one merchant or of several. */
  readonly known: ReadonlyMap<string, readonly Payment[]>;
  /** Transfers that have none. */
  readonly placed: readonly Placed[];
}

export async function readPlaces(
  fx: ReadEffects,
  network: Network,
  transfers: readonly Transfer[],
): Promise<Result<Places, Failure>> {
  if (transfers.length === 0) return ok({ known: new Map(), placed: [] });
  const identities = transfers.map(({ txHash, outputIndex }) => ({ txHash, outputIndex }));
  const amounts = transfers.map(({ cryptocurrency, toAddress, amountUnits }) => ({
    cryptocurrency,
    address: toAddress,
    units: amountUnits.toString(),
  }));
  const addresses = JSON.stringify([...new Set(transfers.map(({ toAddress }) => toAddress))]);
  const { name } = network;
  const sinceMs = Math.floor(fx.nowMs / DAY_MS) * DAY_MS;
  const read = await readWithRetry(fx.sleep, async () =>
    fx.db.batch([
      selectKnownTransfers(fx.db, { network: name, list: JSON.stringify(identities) }),
      selectAddressOwners(fx.db, { network: name, list: addresses }),
      selectExactAmounts(fx.db, { network: name, list: JSON.stringify(amounts) }),
      selectHolders(fx.db, { network: name, list: addresses, sinceMs }),
    ]),
  );
  if (!read.ok) return read;
  const [rows, owners, exact, holders] = read.value;
  const known = Map.groupBy(
    rows.flatMap(({ row }) => (row === null ? [] : [row])),
    transferKey,
  );
  const terms = owners.flatMap(termsOf);
  const reserved = exact.flatMap(reservedOf);
  const placed: Placed[] = [];
  for (const transfer of transfers.filter((each) => !known.has(transferKey(each)))) {
    const place = await placeFor(fx, network, transfer, { terms, reserved });
    if (!place.ok) return place;
    const here = holders.filter(({ address }) => address === transfer.toAddress);
    placed.push({ transfer, place: place.value, holders: here });
  }
  return ok({ known, placed });
}

async function placeFor(
  fx: ReadEffects,
  network: Network,
  transfer: Transfer,
  of: { readonly terms: readonly Terms[]; readonly reserved: readonly ReservedTerms[] },
): Promise<Result<Place, Failure>> {
  const { toAddress, cryptocurrency, amountUnits } = transfer;
  const atMs = transfer.block?.timeMs ?? fx.nowMs;
  const owner = of.terms.find(({ method }) => method.address === toAddress);
  const base = { network, transfer, atMs, macKeys: fx.macKeys, owner };
  const reserved = of.reserved.filter(
    (each) => each.method.cryptocurrency === cryptocurrency && isExact({ network, transfer, atMs }, each),
  );
  const isTold = owner !== undefined || reserved.length > 0 || transfer.isUnexplained === true;
  if (isTold) return ok(placeOf({ ...base, reserved, activeInvoices: 0 }));
  const place = { network: network.name, cryptocurrency, address: toAddress };
  const read = await readWithRetry(fx.sleep, async () =>
    fx.db.batch([
      selectNearAmounts(fx.db, { ...place, units: Number(amountUnits) }),
      selectActiveInvoices(fx.db, place),
    ]),
  );
  if (!read.ok) return read;
  const [near, active] = read.value;
  return ok(placeOf({ ...base, reserved: near.flatMap(reservedOf), activeInvoices: active.length }));
}

type TermsRow = Awaited<ReturnType<typeof selectAddressOwners>>[number];

function termsOf({ method, invoice, quorumAboveMicros }: TermsRow): readonly Terms[] {
  if (method === null || invoice === null) return [];
  return [{ method, invoice, quorumAboveMicros: quorumAboveMicros === null ? null : BigInt(quorumAboveMicros) }];
}

function reservedOf(row: Awaited<ReturnType<typeof selectExactAmounts>>[number]): readonly ReservedTerms[] {
  const { reservedUnits, reservedAtMs, heldUntilMs } = row;
  return termsOf(row).map((terms) => ({ ...terms, reservedUnits: BigInt(reservedUnits), reservedAtMs, heldUntilMs }));
}
