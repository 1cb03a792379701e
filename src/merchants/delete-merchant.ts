import type { Failure } from "../failures.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { switchOffWebhooks } from "../webhooks/store.ts";
import { type ChangeOf, changeMerchant, type MerchantEffects } from "./change-merchant.ts";
import type { Seat } from "./store.ts";

/**
 * Closes a merchant for everybody: its keys and its members find nothing from now on, and its endpoints are told nothing. The rows stay,
 * because invoices and payments are a ledger, and addresses that were shown stay watched. `name` is the merchant's, typed again:
 * CONFIRMATION_MISMATCH otherwise.
 */
export async function deleteMerchant(
  fx: MerchantEffects,
  of: ChangeOf & { readonly owner: Seat },
  name: string,
): Promise<Result<undefined, Failure>> {
  const deleted = await changeMerchant(fx, of, (merchant) => {
    if (merchant.name !== name) return err({ code: "CONFIRMATION_MISMATCH" });
    return ok({
      columns: { deletedAtMs: fx.nowMs },
      entry: { action: "merchant.deleted", before: { name } },
      statements: [switchOffWebhooks(fx.db, merchant.id, fx.nowMs)],
    });
  });
  return deleted.ok ? ok(undefined) : deleted;
}
