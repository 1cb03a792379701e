// How many more rows for uncredited transfers a merchant may get today. Read once for all merchants at the addresses.
import type { MerchantId } from "../../../lib/ids.ts";
import { ok, type Result } from "../../../lib/result.ts";
import type { Sleep } from "../../../lib/sleep.ts";
import { DAY_MS } from "../../../lib/time.ts";
import type { Db } from "../../../platform/db/client.ts";
import { readWithRetry } from "../../../platform/db/retry.ts";
import type { Failure } from "../../../platform/failures.ts";
import { UNMATCHED_A_DAY } from "../unmatched-limit.ts";
import { selectUnmatchedCounts } from "./store.ts";

/** The merchant, address and kind (`kindOf`) that a row counts towards. */
interface Counted {
  readonly merchantId: MerchantId;
  readonly address: string;
  readonly kind: string;
}

/** The counts as first read; the batches that write the rows check the limits again. */
export class Quota {
  readonly #addresses = new Set<string>();
  readonly #taken = new Map<string, number>();

  /** Addresses whose rows have not been counted yet. */
  missing(addresses: readonly string[]): readonly string[] {
    return addresses.filter((address) => !this.#addresses.has(address));
  }

  note(addresses: readonly string[], rows: readonly (Counted & { readonly rows: number })[]): void {
    for (const address of addresses) this.#addresses.add(address);
    for (const row of rows) this.#taken.set(keyOf(row), row.rows);
  }

  hasRoom(of: Counted): boolean {
    return (this.#taken.get(keyOf(of)) ?? 0) < UNMATCHED_A_DAY;
  }

  /** Counts one more row; false if the limit is reached. */
  take(of: Counted): boolean {
    if (!this.hasRoom(of)) return false;
    this.#taken.set(keyOf(of), (this.#taken.get(keyOf(of)) ?? 0) + 1);
    return true;
  }
}

function keyOf({ merchantId, address, kind }: Counted): string {
  return `${merchantId} ${address} ${kind}`;
}

/** Counts the rows at those of the addresses that have not been counted yet. */
export async function readQuota(
  deps: { readonly db: Db; readonly sleep: Sleep; readonly nowMs: number },
  quota: Quota,
  of: { readonly network: string; readonly addresses: readonly string[] },
): Promise<Result<Quota, Failure>> {
  const addresses = quota.missing([...new Set(of.addresses)]);
  if (addresses.length === 0) return ok(quota);
  const asked = { network: of.network, addresses, sinceMs: dayOf(deps.nowMs) };
  const read = await readWithRetry(deps.sleep, async () => selectUnmatchedCounts(deps.db, asked));
  if (!read.ok) return read;
  quota.note(addresses, read.value);
  return ok(quota);
}

/** Midnight (UTC) at the start of the day for which unmatched payments are counted. */
export function dayOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS) * DAY_MS;
}
