// Reads what is needed to tell where new transfers belong: one round trip for all of them, and one more for every ten that nobody asked for
// exactly. Whoever sends a thousand worthless ones in a block must not use up what a pass may ask of storage.
import type { Network } from "../chains/networks.ts";
import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { quoteSlackMs } from "../invoices/quotes.ts";
import type { InvoiceId, MerchantId } from "../lib/ids.ts";
import { piecesOf } from "../lib/pieces.ts";
import { ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { Payment } from "../payments/payment.ts";
import { type Transfer, transferKey } from "../payments/transfer.ts";
import type { RateTable } from "../rates/quote.ts";
import type { MacKeys } from "../wallets/row-mac.ts";
import {
  clockSlackMs,
  isExact,
  type Place,
  type PlaceFacts,
  placeOf,
  type ReservedTerms,
  type Terms,
  unplaced,
} from "./placement.ts";
import {
  selectAddressOwners,
  selectExactAmounts,
  selectHolders,
  selectKnownTransfers,
  selectNearAmounts,
  selectOpenInvoices,
} from "./store.ts";

/** Each of them comes with up to 200 candidates. */
const AROUND_AT_ONCE = 10;

export interface ReadEffects {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly nowMs: number;
  readonly macKeys: MacKeys;
  /** Market rates; asked only where a transfer is new. */
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
  /** Who has a wallet on its address. */
  readonly holders: readonly Holder[];
}

export interface Places {
  /** By `transferKey`: the rows that a transfer has already, of one merchant or of several. */
  readonly known: ReadonlyMap<string, readonly Payment[]>;
  /** Transfers that have none. */
  readonly placed: readonly Placed[];
  /** Market rates of their first sight; undefined where none is new. */
  readonly table: RateTable | undefined;
}

export async function readPlaces(
  fx: ReadEffects,
  network: Network,
  transfers: readonly Transfer[],
): Promise<Result<Places, Failure>> {
  if (transfers.length === 0) return ok({ known: new Map(), placed: [], table: undefined });
  const identities = transfers.map(({ txHash, outputIndex }) => ({ txHash, outputIndex }));
  const amounts = transfers.map(({ cryptocurrency, toAddress, amountUnits }) => ({
    cryptocurrency,
    address: toAddress,
    units: amountUnits.toString(),
  }));
  const addresses = JSON.stringify([...new Set(transfers.map(({ toAddress }) => toAddress))]);
  const { name } = network;
  const read = await readWithRetry(fx.sleep, async () =>
    fx.db.batch([
      selectKnownTransfers(fx.db, { network: name, list: JSON.stringify(identities) }),
      selectAddressOwners(fx.db, { network: name, list: addresses }),
      selectExactAmounts(fx.db, { network: name, list: JSON.stringify(amounts) }),
      selectHolders(fx.db, { network: name, list: addresses }),
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
  const fresh = transfers.filter((transfer) => !known.has(transferKey(transfer)));
  if (fresh.length === 0) return ok({ known, placed: [], table: undefined });
  const rates = { table: await fx.table(), nowMs: fx.nowMs };
  const facts = fresh.map((transfer) => ({ ...exactFacts(fx, network, transfer, { terms, reserved }), rates }));
  const told = facts.filter(isTold);
  const around = await readAround(
    fx,
    facts.filter((each) => !isTold(each)),
  );
  if (!around.ok) return around;
  const placed = [...told, ...around.value].map((each) => {
    const here = holders.filter(({ address }) => address === each.transfer.toAddress);
    return { transfer: each.transfer, place: placeOrStray(each), holders: here };
  });
  return ok({ known, placed, table: rates.table });
}

/** The place of one transfer. A row that cannot be read is named in the log, and keeps no other transfer of the look from its own place. */
function placeOrStray(facts: PlaceFacts): Place {
  const { transfer, network } = facts;
  try {
    const place = placeOf(facts);
    if (place.kind === "stray" && place.unreadable !== undefined) alert(network, transfer, place.unreadable);
    return place;
  } catch (error) {
    const place = unplaced(facts);
    const invoiceIds = place.refused.map(({ invoiceId }) => invoiceId);
    alert(network, transfer, invoiceIds, error instanceof Error ? error.name : "unknown");
    return place;
  }
}

/** Ids and the kind of error alone: a message may quote what the row holds. */
function alert(
  { name: network }: Network,
  { txHash, outputIndex }: Transfer,
  invoiceIds: readonly InvoiceId[],
  error?: string,
): void {
  const of = { network, txHash, outputIndex, invoiceIds, error };
  console.error(JSON.stringify({ level: "error", alert: "a transfer waits: an invoice cannot be read", ...of }));
}

/** What an own address and an exact amount say of a transfer. */
function exactFacts(
  { nowMs, macKeys }: ReadEffects,
  network: Network,
  transfer: Transfer,
  of: { readonly terms: readonly Terms[]; readonly reserved: readonly ReservedTerms[] },
): Omit<PlaceFacts, "rates"> {
  const atMs = transfer.block?.timeMs ?? nowMs;
  const owner = of.terms.find(({ method }) => method.address === transfer.toAddress);
  const reserved = of.reserved.filter(
    (each) => each.method.cryptocurrency === transfer.cryptocurrency && isExact({ network, transfer, atMs }, each),
  );
  return { network, transfer, atMs, macKeys, owner, reserved, openInvoices: 0 };
}

/** Whether nothing else need be read. */
function isTold({ owner, reserved, transfer }: PlaceFacts): boolean {
  return owner !== undefined || reserved.length > 0 || transfer.isUnexplained === true;
}

/** The same with what is reserved around each amount. */
async function readAround(
  fx: ReadEffects,
  facts: readonly PlaceFacts[],
): Promise<Result<readonly PlaceFacts[], Failure>> {
  const whole: PlaceFacts[] = [];
  for (const piece of piecesOf(facts, AROUND_AT_ONCE)) {
    const { name } = piece[0]?.network ?? {};
    if (name === undefined) continue;
    const wanted = piece.map(({ transfer, network, atMs }) => {
      const { cryptocurrency, toAddress: address, amountUnits } = transfer;
      const times = { atMs, openFromMs: atMs + clockSlackMs(network), slackMs: quoteSlackMs(network) };
      return { key: transferKey(transfer), cryptocurrency, address, units: amountUnits.toString(), ...times };
    });
    const read = await readWithRetry(fx.sleep, async () =>
      fx.db.batch([selectNearAmounts(fx.db, name, wanted), selectOpenInvoices(fx.db, name, wanted)]),
    );
    if (!read.ok) return read;
    const [near, open] = read.value;
    const byKey = Map.groupBy(near, ({ key }) => key);
    const openOf = new Map(open.map(({ key, openInvoices }) => [key, openInvoices]));
    for (const each of piece) {
      const key = transferKey(each.transfer);
      const reserved = (byKey.get(key) ?? []).flatMap(reservedOf);
      whole.push({ ...each, reserved, openInvoices: openOf.get(key) ?? 0 });
    }
  }
  return ok(whole);
}

type TermsRow = Awaited<ReturnType<typeof selectAddressOwners>>[number];

function termsOf({ method, invoice, quorumAboveMicros }: TermsRow): readonly Terms[] {
  if (method === null) return [];
  return [{ method, invoice, quorumAboveMicros: quorumAboveMicros === null ? null : BigInt(quorumAboveMicros) }];
}

function reservedOf(row: Awaited<ReturnType<typeof selectExactAmounts>>[number]): readonly ReservedTerms[] {
  const { reservedUnits, reservedAtMs, heldUntilMs } = row;
  return termsOf(row).map((terms) => ({ ...terms, reservedUnits: BigInt(reservedUnits), reservedAtMs, heldUntilMs }));
}
