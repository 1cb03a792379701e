import type { Rank } from "../../platform/column-values.ts";
import type { Sharing } from "../ranks/rank.ts";
import type { AmountRefusal } from "./holding.ts";

export interface AmountRequest {
  readonly invoiceId: string;
  readonly merchantId: string;
  /** The price, rounded up to the asset's grain. */
  readonly priceUnits: bigint;
  /**
   * The merchant's rank at the address, and whether other merchants use the address, read just before the request. An invoice keeps the rank of its
   * first amount.
   */
  readonly sharing: Sharing;
  /** Whether a browser created the invoice. */
  readonly isPublic: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly monitorUntilMs: number;
  readonly nowMs: number;
  /** The terms that the invoice shows, as JSON, kept for `given`; absent if they need not be kept. */
  readonly terms?: string;
}

/** Which amounts `given` lists: those given at or after `sinceMs` whose position is after `after`. */
export interface GivenAmountsSince {
  readonly sinceMs: number;
  /** The `place` of the last amount already read; 0 to start. */
  readonly after: number;
  readonly limit: number;
}

/** An amount that was given together with terms, even if its hold has ended. */
interface ShownAmount extends InvoiceAmount {
  /** Its position in the order in which amounts were given. */
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
  /** Until this time the invoice may ask for the amount. Only an invoice of a merchant with a higher rank may also get it. */
  readonly heldUntilMs: number;
  /** The merchant's invoice whose amount was the first to reach the warning mark for the price; null while enough amounts are free. */
  readonly lowSince: string | null;
}

export type AmountAnswer = GivenAmount | { readonly kind: "refused"; readonly refusal: AmountRefusal };

export interface InvoiceAmount {
  readonly invoiceId: string;
  readonly units: bigint;
}

/** An amount to look up in D1: it was given some time ago, or its hold ended long ago and it was never released. */
export interface OverdueAmount extends InvoiceAmount {
  /** The value of `check_after_ms` when the row was read. */
  readonly checkAfterMs: number;
}

/** An unreleased amount from D1, for an allocator whose storage is empty. */
export interface StandingAmount extends InvoiceAmount {
  readonly merchantId: string;
  readonly priceUnits: bigint;
  readonly rank: Rank;
  readonly isPublic: boolean;
  readonly untilMs: number;
}

/** The allocator's interface for operations: the Durable Object's stub or, in the simulator, `AmountAllocations`. */
export interface AmountAllocatorRpc {
  allocate(requests: readonly AmountRequest[]): Promise<readonly AmountAnswer[]>;
  release(amounts: readonly InvoiceAmount[], nowMs: number): Promise<readonly boolean[]>;
  given(since: GivenAmountsSince): Promise<GivenAmounts>;
}
