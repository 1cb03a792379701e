import { ok, type Result } from "../../lib/result.ts";
import { changedFacts } from "../../platform/audit/entry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { MerchantRow } from "../merchant-records/store.ts";
import { type ChangeOf, changeMerchant, type MerchantDependencies } from "./change-merchant.ts";

/** Renames a merchant; writes nothing if the name is the same. */
export async function updateMerchantName(
  deps: MerchantDependencies,
  of: ChangeOf,
  name: string,
): Promise<Result<MerchantRow, Failure>> {
  return changeMerchant(deps, of, (merchant) => {
    if (merchant.name === name) return ok(undefined);
    const facts = changedFacts({ name: merchant.name }, { name });
    return ok({ columns: { name }, entry: { action: "merchant.updated", ...facts } });
  });
}
