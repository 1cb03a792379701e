import type { MerchantId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { readRow } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { isPageOver } from "../pay/page-over.ts";
import { selectRoomOf } from "./store.ts";

/**
 * Finds the merchant to whose `CheckoutRoom` the pages of an invoice connect. Fails with INVOICE_NOT_FOUND, with INVOICE_ENDED if the pages no longer
 * change, or with STORAGE_UNAVAILABLE.
 */
export async function findRoom(
  deps: { readonly db: Db; readonly sleep: Sleep },
  invoiceId: string,
): Promise<Result<MerchantId, Failure>> {
  const found = await readRow(deps.sleep, () => selectRoomOf(deps.db, invoiceId), { code: "INVOICE_NOT_FOUND" });
  if (!found.ok) return found;
  const { merchantId, status } = found.value;
  return isPageOver(status) ? err({ code: "INVOICE_ENDED", status }) : ok(merchantId);
}
