import { changedFacts } from "../audit/entry.ts";
import type { Failure } from "../failures.ts";
import { ok, type Result } from "../lib/result.ts";
import { type ChangeOf, changeMerchant, type MerchantEffects } from "./change-merchant.ts";
import { changedColumns, type SettingsChange, settingsFacts, settingsOf } from "./settings.ts";
import type { MerchantRow } from "./store.ts";

/** Changes settings; what changes nothing writes nothing. Invoices that stand keep the copies they were made with (decisions 4). */
export async function updateSettings(
  fx: MerchantEffects,
  of: ChangeOf,
  change: SettingsChange,
): Promise<Result<MerchantRow, Failure>> {
  return changeMerchant(fx, of, (merchant) => {
    const before = settingsOf(merchant);
    const columns = changedColumns(before, change);
    const facts = changedFacts(settingsFacts(before), settingsFacts(settingsOf(columns)));
    if (Object.keys(facts.after).length === 0) return ok(undefined);
    return ok({ columns, entry: { action: "settings.updated", ...facts } });
  });
}
