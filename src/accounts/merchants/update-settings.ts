import { err, ok, type Result } from "../../lib/result.ts";
import { changedFacts } from "../../platform/audit/entry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { checkImage } from "../images/check-image.ts";
import { assertImage } from "../images/store.ts";
import type { MerchantRow } from "../merchant-records/store.ts";
import { checkWeakening, mailChange, type Watch } from "../protections/check-weakening.ts";
import { type ChangeOf, changeMerchant, type MerchantDependencies } from "./change-merchant.ts";
import { changedColumns, type SettingsChange, settingsFacts, settingsOf } from "./settings.ts";
import { changedDelay, delayFacts, delayHoursAt, delayText, type WalletChangeDelay } from "./wallet-change-delay.ts";

interface SettingsRequest extends ChangeOf {
  /** Why this caller may not change the wallet change delay; undefined if they may. */
  readonly delayRefusal: Failure | undefined;
  readonly watch: Watch;
}

/**
 * Changes settings; writes nothing if nothing changes. Existing invoices keep the settings that they copied when they were created (decisions 4).
 * Only a user who has stepped up can change the wallet change delay. That change, and any weakened protection, is emailed to every OWNER and ADMIN at
 * once.
 */
export function updateSettings(
  deps: MerchantDependencies & { readonly mailer: Mailer },
  of: SettingsRequest,
  { walletChangeDelayHours, ...change }: SettingsChange & { readonly walletChangeDelayHours?: number | undefined },
): Promise<Result<MerchantRow, Failure>> {
  const { nowMs } = deps;
  const logo = change.brand?.logo ?? undefined;
  const named = logo === undefined ? undefined : { merchantId: of.read.id, name: logo };
  const recheck = async () => (named === undefined ? ok(undefined) : checkImage(deps, { ...named, size: undefined }));
  const statements = named === undefined ? [] : [assertImage(deps.db, named)];
  return changeMerchant(deps, { ...of, recheck }, (merchant) => {
    const before = settingsOf(merchant);
    const columns = changedColumns(before, change);
    const asked = askedDelay(merchant, walletChangeDelayHours, of, nowMs);
    if (!asked.ok) return asked;
    const delay = asked.value ?? merchant;
    const facts = changedFacts(
      { ...settingsFacts(before), ...delayFacts(merchant, nowMs) },
      { ...settingsFacts(settingsOf(columns)), ...delayFacts(delay, nowMs) },
    );
    if (Object.keys(facts.after).length === 0) return ok(undefined);
    const weighed = checkWeakening(deps, of.watch, "updateSettings", facts);
    if (!weighed.ok) return weighed;
    const afterwards = async () => {
      await weighed.value.afterwards?.();
      if (asked.value === undefined) return;
      const lines = [`Before: ${delayText(merchant, nowMs)}`, `Now: ${delayText(delay, nowMs)}`];
      await mailChange(deps, of.watch, { thing: "The wallet change delay", done: "changed" }, lines);
    };
    const entry = { action: "settings.updated", ...weighed.value.facts } as const;
    return ok({ columns: { ...columns, ...asked.value }, entry, statements, afterwards });
  });
}

/**
 * The requested delay; undefined if it does not change. A caller who may not change the delay may send back the current one, which changes nothing.
 */
function askedDelay(
  merchant: MerchantRow,
  hours: number | undefined,
  { delayRefusal }: Pick<SettingsRequest, "delayRefusal">,
  nowMs: number,
): Result<WalletChangeDelay | undefined, Failure> {
  const asked = hours === undefined ? undefined : changedDelay(merchant, hours, nowMs);
  if (asked === undefined || delayRefusal === undefined) return ok(asked);
  return hours === delayHoursAt(merchant, nowMs) ? ok(undefined) : err(delayRefusal);
}
