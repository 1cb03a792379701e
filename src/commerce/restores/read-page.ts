// Reads pages of items that Durable Objects have kept since the restored minute, for an import to apply.

import { parseId } from "../../lib/ids.ts";
import { ownerOf } from "../../lib/object-of.ts";
import type { KeptRevocation, RevocationsRpc } from "../../platform/revocations/revocation.ts";
import { placeNamed } from "../amounts/amount-place.ts";
import type { AmountAllocatorRpc } from "../amounts/amount-request.ts";
import type { AllocatorRpc } from "../wallets/allocations.ts";
import type { RestoreFinding, ShownPlace } from "./restore.ts";

export interface PageRequest {
  readonly sinceMs: number;
  /** Only items after this position; -1 to start. */
  readonly after: number;
  readonly limit: number;
}

/** The details of an item, for a finding about it. */
type Facts = Pick<
  RestoreFinding,
  "merchantId" | "invoiceId" | "network" | "cryptocurrency" | "address" | "units" | "known"
>;

export type FoundItem = {
  /** The object that has the item, and the item's position in that object. */
  readonly name: string;
  readonly place: number;
  readonly facts: Facts;
} & (
  | { readonly kind: "REVOCATION"; readonly kept: KeptRevocation }
  | { readonly kind: "PLACE"; readonly shown: ShownPlace }
);

export interface Page {
  readonly items: readonly FoundItem[];
}

const NOWHERE = { invoiceId: null, network: null, cryptocurrency: null, address: null, units: null };

export async function readRevocations(
  object: Pick<RevocationsRpc, "revocationsSince">,
  name: string,
  page: PageRequest,
): Promise<Page> {
  const kept = await object.revocationsSince(page.sinceMs, page.after, page.limit);
  return {
    items: kept.map((each) => {
      const { place, kind, target, columns } = each;
      const facts = { ...NOWHERE, merchantId: ownerOf(name), known: JSON.stringify({ kind, target, columns }) };
      return { kind: "REVOCATION", name, place, kept: each, facts };
    }),
  };
}

/** `floor` as in `GivenSince`. */
export async function readAddresses(
  object: Pick<AllocatorRpc, "given">,
  name: string,
  page: PageRequest & { readonly floor: number },
): Promise<Page> {
  const { sinceMs, floor, after: afterIndex, limit } = page;
  const given = await object.given({ sinceMs, floor, afterIndex, limit });
  return {
    items: given.flatMap(({ index, address, terms, ...ids }) => {
      const shown = { address, addressIndex: index, amount: null, terms, network: null, cryptocurrency: null };
      return itemsOf(name, index, shown, ids);
    }),
  };
}

export async function readAmounts(
  object: Pick<AmountAllocatorRpc, "given">,
  name: string,
  page: PageRequest,
): Promise<Page> {
  const at = placeNamed(name);
  if (at === undefined) return { items: [] };
  const { sinceMs, after, limit } = page;
  const given = await object.given({ sinceMs, after, limit });
  return {
    items: given.flatMap(({ place, units, priceUnits, rank, heldUntilMs, terms, ...ids }) => {
      const amount = { units, priceUnits, rank, heldUntilMs };
      return itemsOf(name, place, { ...at, addressIndex: null, amount, terms }, ids);
    }),
  };
}

function itemsOf(
  name: string,
  place: number,
  shown: Omit<ShownPlace, "invoiceId" | "merchantId">,
  ids: { readonly invoiceId: string; readonly merchantId: string },
): readonly FoundItem[] {
  const invoiceId = parseId("inv", ids.invoiceId);
  const merchantId = parseId("mer", ids.merchantId);
  const { network, cryptocurrency, address, terms: known } = shown;
  const units = shown.amount === null ? null : shown.amount.units.toString();
  const facts = { ...ids, network, cryptocurrency, address, units, known };
  if (invoiceId === undefined || merchantId === undefined)
    throw new Error(`an allocation of no invoice: ${ids.invoiceId}`);
  return [{ kind: "PLACE", name, place, shown: { ...shown, invoiceId, merchantId }, facts }];
}
