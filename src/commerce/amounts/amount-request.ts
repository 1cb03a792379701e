// The requests and answers of an amount allocator.
import type { Rank } from "../../platform/column-values.ts";
import type { Sharing } from "../ranks/rank.ts";
import type { AmountRefusal } from "./holding.ts";

export interface AmountRequest {
  readonly invoiceId: string;
  readonly merchantId: string;
  /** The price, rounded up to the asset's grain. */
  readonly priceUnits: bigint;
  /** The merchant's rank at the address and who else has it, as just read. An invoice keeps the rank of its first amount. */
  readonly sharing: Sharing;
  /** Whether a browser created the invoice. */
  readonly isPublic: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly monitorUntilMs: number;
  readonly nowMs: number;
  /** What the invoice shows, as JSON, kept for `given`; absent if only the amount is wanted. */
  readonly terms?: string;
}

/** Which amounts `given` lists: those given at or after a time, after a place in that order. */
export interface GivenAmountsSince {
  readonly sinceMs: number;
  /** 0 for the first. */
  readonly after: number;
  readonly limit: number;
}

/** An amount that was given with its terms, whether or not it is still held. */
interface ShownAmount extends InvoiceAmount {
  /** Its place in the order in which amounts were given. */
  readonly place: number;
  readonly merchantId: string;
  readonly priceUnits: bigint;
  readonly rank: Rank;
  readonly heldUntilMs: number;
  readonly terms: string;
  readonly atMs: number;
}

export type GivenAmounts = readonly ShownAmount[];

export interface GivenAmount {
  readonly kind: "given";
  readonly units: bigint;
  readonly rank: Rank;
  /** The invoice must not ask for the amount after this time, and no other invoice gets it before. */
  readonly heldUntilMs: number;
  /** The merchant's invoice with which the amounts of its price began to run low; null otherwise. */
  readonly lowSince: string | null;
}

export type AmountAnswer = GivenAmount | { readonly kind: "refused"; readonly refusal: AmountRefusal };

/** An amount of an invoice. */
export interface InvoiceAmount {
  readonly invoiceId: string;
  readonly units: bigint;
}

/** An amount to look up in D1: it was given some time ago, or its end is long past and it was never released. */
export interface OverdueAmount extends InvoiceAmount {
  /** Its value when this was read. */
  readonly checkAfterMs: number;
}

/** An amount with a row that is not released, for an allocator that has none. */
export interface StandingAmount extends InvoiceAmount {
  readonly merchantId: string;
  readonly priceUnits: bigint;
  readonly rank: Rank;
  readonly isPublic: boolean;
  readonly untilMs: number;
}

/** The allocator's interface for operations: the object's stub, or in the simulator `AmountAllocations`. */
export interface AmountAllocatorRpc {
  allocate(requests: readonly AmountRequest[]): Promise<readonly AmountAnswer[]>;
  release(amounts: readonly InvoiceAmount[], nowMs: number): Promise<readonly boolean[]>;
  given(since: GivenAmountsSince): Promise<GivenAmounts>;
}
