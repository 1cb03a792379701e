// Looks up a transaction that a merchant names. The rules of a pass decide what is stored; this file decides which requests are allowed, how often,
// and what is returned.
import { networkNamed } from "../../chains/registry/networks.ts";
import { transactionHash } from "../../chains/registry/transaction-hash.ts";
import { listPayments } from "../../commerce/payments/list-payments.ts";
import { selectPaymentPage } from "../../commerce/payments/store.ts";
import type { MerchantId } from "../../lib/ids.ts";
import { MAX_LIMIT } from "../../lib/pagination.ts";
import { err, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { LookUpOutcome, NamedTransaction } from "../passes/look-for-merchant.ts";

export interface LookUpDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  /** Whether a source is configured. */
  readonly hasSource: (network: string) => boolean;
  /** Never throws; UNAVAILABLE if the lookup takes too long, although it continues in the background. */
  look(network: string, named: NamedTransaction): Promise<LookUpOutcome>;
  /** Counts one of the merchant's lookups. Returns the seconds to wait if there were too many, otherwise 0. */
  waitOf(merchantId: MerchantId): Promise<number>;
}

interface LookUpRequest {
  readonly merchantId: MerchantId;
  /** The network's name in the registry. */
  readonly network: string;
  /** From the body, not yet parsed. */
  readonly txHash: string;
}

/** Reads the transaction and returns the first page of the merchant's payments from it. Safe to repeat. */
export async function lookUpPayment(
  deps: LookUpDependencies,
  request: LookUpRequest,
): Promise<Result<object, Failure>> {
  const { merchantId } = request;
  const network = networkNamed(request.network);
  const txHash = network === undefined ? undefined : transactionHash(network, request.txHash);
  if (network === undefined || txHash === undefined) {
    const message = `is not a transaction hash of ${network?.displayName ?? "the network"}`;
    return err({ code: "VALIDATION_FAILED", details: [{ path: "txHash", message }] });
  }
  const { name } = network;
  if (!deps.hasSource(name)) return err({ code: "NETWORK_NOT_WATCHED", network: name });
  const waitSeconds = await deps.waitOf(merchantId);
  if (waitSeconds > 0) return err({ code: "RATE_LIMITED", retryAfterSeconds: waitSeconds });
  const outcome = await deps.look(name, { merchantId, txHash });
  if (outcome === "NOT_FOUND") return err({ code: "TRANSACTION_NOT_FOUND", network: name });
  if (outcome === "UNAVAILABLE") return err({ code: "CHAIN_UNAVAILABLE", network: name });
  if (outcome === "NOT_STORED") return err({ code: "STORAGE_UNAVAILABLE" });
  const page = { filter: { network: name, txHash }, after: undefined, limit: MAX_LIMIT + 1, offset: 0 };
  const rows = await readWithRetry(deps.sleep, async () => selectPaymentPage(deps.db, merchantId, page));
  return rows.ok ? listPayments({ rows: rows.value, total: 0 }, { limit: MAX_LIMIT, cursor: "" }) : rows;
}
