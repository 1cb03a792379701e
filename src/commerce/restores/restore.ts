// The import after the database was put back: what its steps say to each other.
import type { InvoiceId, MerchantId } from "../../lib/ids.ts";
import type { restoreFindings, restores } from "../../platform/db/schema/restores.ts";

export type Restore = typeof restores.$inferSelect;
export type RestoreFinding = typeof restoreFindings.$inferSelect;
export type Phase = Restore["phase"];
export type FindingReason = RestoreFinding["reason"];

/** What became of one revocation, address or amount. */
export type Outcome =
  /** The database has it. */
  { readonly kind: "KNOWN" } | { readonly kind: "DONE" } | { readonly kind: "FOUND"; readonly reason: FindingReason };

/** An address or an amount as its allocator gave it. */
export interface ShownPlace {
  readonly invoiceId: InvoiceId;
  readonly merchantId: MerchantId;
  readonly address: string;
  /** Null at a shared address. */
  readonly addressIndex: number | null;
  /** Null at an own address. */
  readonly amount: ShownUnits | null;
  /** Null if the allocator kept none. */
  readonly terms: string | null;
  /** Null where only the terms know them. */
  readonly network: string | null;
  readonly cryptocurrency: string | null;
}

export interface ShownUnits {
  readonly units: bigint;
  readonly priceUnits: bigint;
  readonly rank: 1 | 2 | 3;
  readonly heldUntilMs: number;
}

/**
 * What was given shortly before the restored minute is looked at, too: its batch may have been under way. The longest is a lease of 30 s, five tries
 * and a stall of D1.
 */
export const UNDER_WAY_MS = 10 * 60_000;
