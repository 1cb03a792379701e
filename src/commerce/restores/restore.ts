// The types of the import after a restore of the database.
import type { InvoiceId, MerchantId, RestoreFindingId } from "../../lib/ids.ts";

export type Phase = "REVOCATIONS" | "ADDRESSES" | "AMOUNTS" | "DONE";
type FindingReason = "TERMS_UNKNOWN" | "MERCHANT_LOST" | "WALLET_LOST" | "OWNER_UNCERTAIN" | "REFUSED";

/** An import. Except for `fromMs` the table has exactly these columns. */
export interface Restore {
  readonly epoch: number;
  readonly restoredToMs: number;
  /**
   * The earliest restored minute of this import and of earlier imports that had not ended when the database was restored again. This import takes
   * over their work.
   */
  readonly fromMs: number;
  readonly operationId: string;
  readonly phase: Phase;
  readonly atName: string;
  readonly atPlace: number | null;
  readonly objects: number;
  readonly revocations: number;
  readonly recovered: number;
  readonly findings: number;
  readonly beganAtMs: number;
  readonly openedAtMs: number | null;
  readonly endedAtMs: number | null;
}

/** An item that could not be recovered. The table has exactly these columns. */
export interface RestoreFinding {
  readonly id: RestoreFindingId;
  readonly epoch: number;
  readonly reason: FindingReason;
  readonly merchantId: string;
  readonly invoiceId: string | null;
  readonly network: string | null;
  readonly cryptocurrency: string | null;
  readonly address: string | null;
  readonly units: string | null;
  readonly known: string | null;
  readonly createdAtMs: number;
  readonly reviewedAtMs: number | null;
  readonly reviewedBy: string | null;
}

export type Outcome =
  /** Its rows already exist. */
  { readonly kind: "KNOWN" } | { readonly kind: "DONE" } | { readonly kind: "FOUND"; readonly reason: FindingReason };

/** An address or an amount, as its allocator recorded it. */
export interface ShownPlace {
  readonly invoiceId: InvoiceId;
  readonly merchantId: MerchantId;
  readonly address: string;
  /** Null at a shared address. */
  readonly addressIndex: number | null;
  /** Null at an invoice's own address. */
  readonly amount: ShownUnits | null;
  /** Null if the allocator kept no terms. */
  readonly terms: string | null;
  /** Network and asset are null if only the terms name them. */
  readonly network: string | null;
  readonly cryptocurrency: string | null;
}

interface ShownUnits {
  readonly units: bigint;
  readonly priceUnits: bigint;
  readonly rank: 1 | 2 | 3;
  readonly heldUntilMs: number;
}

/**
 * Items given up to this long before the restored minute are checked too, because their batch may not have been committed by then. A commit takes at
 * most a lease of 30 s, five tries and a stall of D1.
 */
export const UNDER_WAY_MS = 10 * 60_000;
