import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import { deleteImagesOf } from "../images/store.ts";
import { type ChangeOf, changeMerchant, type MerchantDependencies } from "./change-merchant.ts";
import { switchOffWebhooks } from "./store.ts";

/**
 * Closes a merchant for everybody: its keys and its members find nothing from now on, and its endpoints get no events. The rows stay,
 * because invoices and payments are a ledger, and addresses that were shown stay watched; only its images go. `name` must be the merchant's, typed
 * again: CONFIRMATION_MISMATCH otherwise.
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
