// Places new transfers: some from the reads already made, the others with about two more round trips for every 50 distinct amounts that no invoice
// asks for exactly. Thousands of worthless transfers in one block must not use up the storage queries of a pass.
import type { Network } from "../../chains/registry/networks.ts";
import { isToItself, type Transfer, transferKey } from "../../chains/sources/transfer.ts";
import { RELEASED_KEPT_MS } from "../../commerce/amounts/released.ts";
import { quoteSlackMs } from "../../commerce/quotes/quotes.ts";
import type { InvoiceId, MerchantId } from "../../lib/ids.ts";
import { logAlert } from "../../lib/log.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import { readAround } from "./around/read-around.ts";
import { clockSlackMs, type PlaceFacts, type Placement, placeOf, surelyFromMs, unplaced } from "./placement.ts";
import { amountKeyOf, damagedOf, type Fresh, NONE_OPEN, type ReadDependencies, reservedOf } from "./read-found.ts";

export interface Placed extends Omit<Fresh, "facts"> {
  readonly place: Placement;
}

/** The placement of a transfer, if it needs no further reads; otherwise undefined. */
export function placeSurely({ facts, ...fresh }: Fresh): Placed | undefined {
  return isDecided(facts) ? placed(fresh, placeOrUnmatched(facts)) : undefined;
}

/** The placements of transfers that need further reads. Transfers with the same amount and time are placed once. */
export async function readPlaces(
  deps: ReadDependencies,
  network: Network,
  lot: readonly Fresh[],
): Promise<Result<readonly Placed[], Failure>> {
  const groups = Map.groupBy(lot, ({ facts }) => placeKeyOf(facts));
  const around = await withAround(
    deps,
    network,
    [...groups].flatMap(([key, [first]]) => (first === undefined ? [] : [{ key, facts: first.facts }])),
  );
  if (!around.ok) return around;
  return ok(
    around.value.flatMap(({ key, facts }) => {
      const own = groups.get(key) ?? [];
      const place = placeOrUnmatched(facts);
      return own.map((fresh) => placed(fresh, place));
    }),
  );
}

/** The facts that decide the placement of a transfer, as a key. */
export function placeKeyOf({ transfer, atMs }: Pick<PlaceFacts, "transfer" | "atMs">): string {
  const { cryptocurrency, toAddress: address, amountUnits: units } = transfer;
  const amount = amountKeyOf({ cryptocurrency, address, units });
  const isAlone = transfer.growth !== undefined;
  return `${amount} ${atMs} ${transfer.block === null} ${isAlone ? transferKey(transfer) : ""}`;
}

function placed({ onlyFor, ...fresh }: Omit<Fresh, "facts">, place: Placement): Placed {
  if (onlyFor === undefined) return { ...fresh, place };
  return { ...fresh, place: placeOfMissed(place, onlyFor), onlyFor };
}

/** The placement of one transfer. An unreadable row is logged and does not block the other transfers. */
function placeOrUnmatched(facts: PlaceFacts): Placement {
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

/** Whether the placement is decided without further reads. */
function isDecided(facts: PlaceFacts): boolean {
  const { owner, reserved, damaged, transfer, atMs } = facts;
  // An amount reserved after the payment's time competes with the other amounts asked for at that time.
  const isReserved = reserved.length > 0 && reserved.every((each) => surelyFromMs(facts, each.reservedAtMs) <= atMs);
  return (
    owner !== undefined || isReserved || damaged.length > 0 || transfer.isUnexplained === true || isToItself(transfer)
  );
}

interface KeyedFacts {
  readonly key: string;
  readonly facts: PlaceFacts;
}

/** Adds the reservations around each amount to the facts. */
async function withAround(
  deps: ReadDependencies,
  network: Network,
  all: readonly KeyedFacts[],
): Promise<Result<readonly KeyedFacts[], Failure>> {
  const wanted = all.map(({ key, facts: { transfer, atMs } }) => {
    const { cryptocurrency, toAddress: address, amountUnits: units } = transfer;
    const times = { atMs, openFromMs: atMs + clockSlackMs(network), slackMs: quoteSlackMs(network) };
    return { key, cryptocurrency, address, units, ...times };
  });
  const read = await readAround(deps, network.name, wanted);
  if (!read.ok) return read;
  return ok(
    all.map(({ key, facts }) => {
      const { rows = [], openInvoices = NONE_OPEN, hasReleased = false } = read.value.get(key) ?? {};
      const damaged = rows.filter(({ isOpen }) => isOpen).flatMap((row) => damagedOf(row, null));
      const isForgotten = facts.atMs < deps.nowMs - RELEASED_KEPT_MS;
      const reserved = [...facts.reserved, ...rows.flatMap(reservedOf)];
      return { key, facts: { ...facts, reserved, damaged, openInvoices, hasReleased: hasReleased || isForgotten } };
    }),
  );
}

/**
 * The placement of a transfer for the merchant that named it: not credited. If a rule would now choose one of this merchant's invoices, that invoice
 * is a candidate.
 */
function placeOfMissed(place: Placement, merchantId: MerchantId): Exclude<Placement, { kind: "invoice" }> {
  if (place.kind === "unmatched") return place;
  if (place.kind === "dust") return place.merchantId === merchantId ? place : { kind: "unmatched", refused: [] };
  const { id: invoiceId, merchantId: owner } = place.terms.invoice;
  const refused = owner === merchantId ? [{ invoiceId, merchantId, reason: "AMBIGUOUS" as const }] : [];
  return { kind: "unmatched", refused };
}
