// Looks a payer's transaction up at once (decisions 5). The row comes first, so that any number of claims at once makes no more looks than the
// limit; what is credited is decided by the watcher's own rules, whether anybody claims it or not.
import { networkNamed } from "../chains/networks.ts";
import { transactionHash } from "../chains/transaction-hash.ts";
import type { Db } from "../db/client.ts";
import { commitBatch } from "../db/commit-batch.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { derivedId, type InvoiceId, parseId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import { isoTime } from "../lib/time.ts";
import { type Claim, type ClaimOutcome, claimWaitSeconds, repeatedClaim } from "./claim.ts";
import { assertClaimAllowed, insertClaim, noteOutcome, selectClaim, selectForClaim } from "./store.ts";

export interface ClaimEffects {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  newOperationId(): string;
  /** Never throws; what takes too long is UNAVAILABLE. FOUND: it pays somebody whom we watch. */
  look(network: string, txHash: string): Promise<ClaimOutcome>;
  /** Counts a claim of the caller; seconds to wait where there were too many, else 0. */
  waitOfIp(ip: string | null): Promise<number>;
}

export interface ClaimRequest {
  /** As the path and the body have them. */
  readonly invoiceId: string;
  readonly network: string;
  readonly txHash: string;
  readonly ip: string | null;
}

/** The claim with what the look found; one made before where this only repeats it. */
export async function claimPayment(fx: ClaimEffects, request: ClaimRequest): Promise<Result<Claim, Failure>> {
  const network = networkNamed(request.network);
  const txHash = network === undefined ? request.txHash : transactionHash(network, request.txHash);
  if (txHash === undefined) return err(notAHash(network?.displayName));
  const invoiceId = parseId("inv", request.invoiceId);
  if (invoiceId === undefined) return err({ code: "INVOICE_NOT_FOUND" });
  const asked = { invoiceId, network: network?.name ?? "", txHash };
  for (let tries = 0; tries < 3; tries++) {
    const judged = await judge(fx, asked);
    if (!judged.ok) return judged;
    if (judged.value.kind === "repeated") return ok(judged.value.claim);
    const waitSeconds = tries > 0 ? 0 : await fx.waitOfIp(request.ip);
    if (waitSeconds > 0) return err({ code: "RATE_LIMITED", retryAfterSeconds: waitSeconds });
    const { claim } = judged.value;
    const sent = await commitBatch(fx, () => isStored(fx, claim), [
      assertClaimAllowed(fx.db, claim),
      insertClaim(fx.db, claim),
    ]);
    if (sent.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
    if (sent.kind === "stands") return claim.outcome === "FOUND" ? ok(claim) : looked(fx, claim);
  }
  return err({ code: "CONTENTION" });
}

type Judged = { readonly kind: "repeated" | "new"; readonly claim: Claim };

async function judge(
  fx: ClaimEffects,
  asked: { readonly invoiceId: InvoiceId; readonly network: string; readonly txHash: string },
): Promise<Result<Judged, Failure>> {
  const { db, nowMs } = fx;
  const rows = await readWithRetry(fx.sleep, async () => selectForClaim(db, { ...asked, nowMs }));
  if (!rows.ok) return rows;
  const [row] = rows.value;
  if (row === undefined) return err({ code: "INVOICE_NOT_FOUND" });
  if (!row.networks.includes(asked.network)) return err({ code: "NETWORK_NOT_OFFERED", networks: row.networks });
  const repeated = repeatedClaim(row.claims, asked, nowMs);
  if (repeated !== undefined) return ok({ kind: "repeated", claim: repeated });
  const waitSeconds = claimWaitSeconds(row.claims, nowMs);
  if (waitSeconds > 0) return err({ code: "RATE_LIMITED", retryAfterSeconds: waitSeconds });
  const id = derivedId("clm", fx.newOperationId());
  // What a look will find stands here only after it: a crash in between leaves the claim, and that nobody could look.
  const outcome = row.isKnown ? "FOUND" : "UNAVAILABLE";
  return ok({ kind: "new", claim: { ...asked, id, merchantId: row.merchantId, outcome, createdAtMs: nowMs } });
}

/** The transaction may pay other invoices that we watch: what is told is only whether it pays this one. */
async function looked(fx: ClaimEffects, claim: Claim): Promise<Result<Claim, Failure>> {
  const found = await fx.look(claim.network, claim.txHash);
  const outcome = found === "FOUND" ? "NOT_FOUND" : found;
  const noted = await readWithRetry(fx.sleep, async () => noteOutcome(fx.db, claim, outcome));
  return noted.ok ? ok({ ...claim, outcome: noted.value[0]?.outcome ?? outcome }) : noted;
}

async function isStored(fx: ClaimEffects, { id }: Claim): Promise<boolean> {
  const rows = await readWithRetry(fx.sleep, async () => selectClaim(fx.db, id));
  return rows.ok && rows.value.length === 1;
}

function notAHash(network = "the network"): Failure {
  return {
    code: "VALIDATION_FAILED",
    details: [{ path: "txHash", message: `is no transaction's hash of ${network}` }],
  };
}

export function claimBodyOf({ id, invoiceId, network, txHash, outcome, createdAtMs }: Claim) {
  return { id, invoiceId, network, txHash, outcome, createdAt: isoTime(createdAtMs) };
}
