import { changedFacts } from "../audit/entry.ts";
import type { Failure } from "../failures.ts";
import { ok, type Result } from "../lib/result.ts";
import { type ChangeOf, changeMerchant, type MerchantEffects } from "./change-merchant.ts";
import type { MerchantRow } from "./store.ts";

/** Gives a merchant another name; the same name writes nothing. */
export async function updateMerchantName(
  fx: MerchantEffects,
  of: ChangeOf,
  name: string,
): Promise<Result<MerchantRow, Failure>> {
  return changeMerchant(fx, of, (merchant) => {
    if (merchant.name === name) return ok(undefined);
    const facts = changedFacts({ name: merchant.name }, { name });
    return ok({ columns: { name }, entry: { action: "merchant.updated", ...facts } });
  });
}
