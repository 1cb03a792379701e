import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import type { MerchantId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import { selectMerchantOf } from "./store.ts";

/** The merchant in whose room the pages of an invoice are. INVOICE_NOT_FOUND, STORAGE_UNAVAILABLE. */
export async function findRoom(
  fx: { readonly db: Db; readonly sleep: Sleep },
  invoiceId: string,
): Promise<Result<MerchantId, Failure>> {
  const rows = await readWithRetry(fx.sleep, async () => selectMerchantOf(fx.db, invoiceId));
  if (!rows.ok) return rows;
  const [found] = rows.value;
  return found === undefined ? err({ code: "INVOICE_NOT_FOUND" }) : ok(found.merchantId);
}
