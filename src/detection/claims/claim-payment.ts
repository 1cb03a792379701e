// Looks up a payer's transaction at once (decisions 5). The claim's row is written first, so that parallel claims cause no more lookups than
// the limit. The watcher's rules decide what is credited, with or without a claim.
import { networkNamed } from "../../chains/registry/networks.ts";
import { transactionHash } from "../../chains/registry/transaction-hash.ts";
import { derivedId, type InvoiceId, parseId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { isoTime } from "../../lib/time.ts";
import { type CommitDependencies, change } from "../../platform/changes/change.ts";
import { readRow, readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { type Claim, type ClaimOutcome, claimWaitSeconds, repeatedClaim } from "./claim.ts";
import { type Standing, standingOf } from "./standing.ts";
import { assertClaimAllowed, insertClaim, noteOutcome, selectClaim, selectClaimFile, selectForClaim } from "./store.ts";

export interface ClaimDependencies extends CommitDependencies {
  /** Never throws; UNAVAILABLE if the lookup takes too long. FOUND: the transaction pays a watched address. */
  look(network: string, txHash: string): Promise<ClaimOutcome>;
  /** Counts a claim from the caller. Returns the seconds to wait if there were too many, otherwise 0. */
  waitOfIp(ip: string | null): Promise<number>;
}

interface ClaimRequest {
  /** From the path and the body, not yet parsed. */
  readonly invoiceId: string;
  readonly network: string;
  readonly txHash: string;
  readonly ip: string | null;
}

/** Returns the claim with the outcome of its lookup, or the earlier claim if this one repeats it. */
export async function claimPayment(deps: ClaimDependencies, request: ClaimRequest): Promise<Result<Claim, Failure>> {
  const network = networkNamed(request.network);
  const txHash = network === undefined ? request.txHash : transactionHash(network, request.txHash);
  if (txHash === undefined) return err(notAHash(network?.displayName));
  const invoiceId = parseId("inv", request.invoiceId);
  if (invoiceId === undefined) return err({ code: "INVOICE_NOT_FOUND" });
  const asked = { invoiceId, network: network?.name ?? "", txHash };
  const subject = { name: "a claim", read: () => readForClaim(deps, asked) };
  const made = await change(deps, subject, async (row, { operationId, conflict }) => {
    const repeated = repeatedClaim(row.claims, asked, deps.nowMs);
    if (repeated !== undefined) return ok({ value: { claim: repeated, isLookDue: false } });
    const ofInvoice = claimWaitSeconds(row.claims, deps.nowMs);
    const waitSeconds = ofInvoice > 0 || conflict !== undefined ? ofInvoice : await deps.waitOfIp(request.ip);
    if (waitSeconds > 0) return err({ code: "RATE_LIMITED", retryAfterSeconds: waitSeconds });
    // Until the lookup has ended the row has the outcome UNAVAILABLE, which is also correct after a crash.
    const outcome = row.isKnown ? "FOUND" : "UNAVAILABLE";
    const id = derivedId("clm", operationId);
    const claim: Claim = { ...asked, id, merchantId: row.merchantId, outcome, createdAtMs: deps.nowMs };
    return ok({
      value: { claim, isLookDue: !row.isKnown },
      statements: [assertClaimAllowed(deps.db, claim), insertClaim(deps.db, claim)],
      marker: () => selectClaim(deps.db, id),
    });
  });
  if (!made.ok) return made;
  const { claim, isLookDue } = made.value;
  return isLookDue ? looked(deps, claim) : ok(claim);
}

async function readForClaim(
  deps: ClaimDependencies,
  asked: { readonly invoiceId: InvoiceId; readonly network: string; readonly txHash: string },
) {
  const select = () => selectForClaim(deps.db, { ...asked, nowMs: deps.nowMs });
  const row = await readRow(deps.sleep, select, { code: "INVOICE_NOT_FOUND" });
  if (!row.ok) return row;
  const { networks } = row.value;
  return networks.includes(asked.network) ? row : err({ code: "NETWORK_NOT_OFFERED", networks } as const);
}

/** The transaction may pay other watched invoices; the outcome only states whether it pays this one. */
async function looked(deps: ClaimDependencies, claim: Claim): Promise<Result<Claim, Failure>> {
  const found = await deps.look(claim.network, claim.txHash);
  const outcome = found === "FOUND" ? "NOT_FOUND" : found;
  const noted = await readWithRetry(deps.sleep, async () => noteOutcome(deps.db, claim, outcome));
  return noted.ok ? ok({ ...claim, outcome: noted.value[0]?.outcome ?? outcome }) : noted;
}

function notAHash(network = "the network"): Failure {
  return {
    code: "VALIDATION_FAILED",
    details: [{ path: "txHash", message: `is not a transaction hash of ${network}` }],
  };
}

/** How the claimed transaction relates to its invoice at this time. */
export async function readStanding(
  deps: Pick<ClaimDependencies, "db" | "sleep" | "nowMs">,
  { id }: Claim,
): Promise<Result<Standing, Failure>> {
  const read = await readRow(deps.sleep, () => selectClaimFile(deps.db, id), { code: "INVOICE_NOT_FOUND" });
  if (!read.ok) return read;
  const { claim, payments, claimed, ...invoice } = read.value;
  if (claim === null) return err({ code: "INVOICE_NOT_FOUND" });
  return ok(standingOf({ claim, invoice, payments, claimed, nowMs: deps.nowMs }));
}

export function claimBodyOf({ id, invoiceId, network, txHash, outcome, createdAtMs }: Claim, standing: Standing) {
  return { id, invoiceId, network, txHash, outcome, ...standing, createdAt: isoTime(createdAtMs) };
}
