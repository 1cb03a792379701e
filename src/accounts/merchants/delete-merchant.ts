import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import { deleteImagesOf } from "../images/store.ts";
import { switchOffWebhooks } from "../merchant-records/store.ts";
import { type ChangeOf, changeMerchant, type MerchantDependencies } from "./change-merchant.ts";

/**
 * Deletes a merchant: its keys and members lose access, and its endpoints get no more events. The rows stay, because invoices and payments are a
 * ledger, and addresses that payers were shown stay watched; only the images are deleted. `name` is the confirmation: CONFIRMATION_MISMATCH unless
 * it is the merchant's name.
 */
export async function deleteMerchant(
  deps: MerchantDependencies,
  of: ChangeOf,
  name: string,
): Promise<Result<undefined, Failure>> {
  const deleted = await changeMerchant(deps, of, (merchant) => {
    if (merchant.name !== name) return err({ code: "CONFIRMATION_MISMATCH" });
    return ok({
      columns: { deletedAtMs: deps.nowMs },
      entry: { action: "merchant.deleted", before: { name } },
      statements: [switchOffWebhooks(deps.db, merchant.id, deps.nowMs), ...deleteImagesOf(deps.db, merchant.id)],
    });
  });
  return deleted.ok ? ok(undefined) : deleted;
}
