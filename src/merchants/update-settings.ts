import { changedFacts } from "../audit/entry.ts";
import type { Failure } from "../failures.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { type ChangeOf, changeMerchant, type MerchantEffects } from "./change-merchant.ts";
import { changedColumns, type SettingsChange, settingsFacts, settingsOf } from "./settings.ts";
import type { MerchantRow } from "./store.ts";

/**
 * Changes settings; what changes nothing writes nothing. Invoices that stand keep the copies they were made with (decisions 4). The delay of
 * wallet changes holds a thief of a session up, so a person steps up to shorten it: `loosening` is what refuses otherwise.
 */
export async function updateSettings(
  fx: MerchantEffects,
  of: ChangeOf & { readonly loosening: Failure | undefined },
  change: SettingsChange,
): Promise<Result<MerchantRow, Failure>> {
  return changeMerchant(fx, of, (merchant) => {
    const before = settingsOf(merchant);
    const columns = changedColumns(before, change);
    const facts = changedFacts(settingsFacts(before), settingsFacts(settingsOf(columns)));
    if (Object.keys(facts.after).length === 0) return ok(undefined);
    const isShorter = columns.walletChangeDelayHours < before.walletChangeDelayHours;
    if (isShorter && of.loosening !== undefined) return err(of.loosening);
    return ok({ columns, entry: { action: "settings.updated", ...facts } });
  });
}
