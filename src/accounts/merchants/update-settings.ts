import { logAlert } from "../../lib/log.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { changedFacts } from "../../platform/audit/entry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { checkImage } from "../images/check-image.ts";
import { assertImage } from "../images/store.ts";
import { type ChangeOf, changeMerchant, type MerchantDependencies } from "./change-merchant.ts";
import { delayMail } from "./delay-mail.ts";
import { changedColumns, type SettingsChange, settingsFacts, settingsOf } from "./settings.ts";
import type { MerchantRow } from "./store.ts";
import { changedDelay, delayFacts, delayHoursAt, type WalletChangeDelay } from "./wallet-change-delay.ts";

export interface SettingsRequest extends ChangeOf {
  /** Why this caller may not change the delay of wallet changes; undefined if they may. */
  readonly delayRefusal: Failure | undefined;
  /** The caller, as named in mails. */
  readonly author: string;
  /** Addresses of every OWNER and ADMIN. */
  readonly readers: readonly string[];
}

/**
 * Changes settings; writes nothing if nothing changes. Existing invoices keep the copies with which they were created (decisions 4). Only a user
 * who has stepped up can change the delay of wallet changes, and every OWNER and ADMIN is mailed at once.
 */
export async function updateSettings(
  deps: MerchantDependencies & { readonly mailer: Mailer },
  of: SettingsRequest,
  { walletChangeDelayHours, ...change }: SettingsChange & { readonly walletChangeDelayHours?: number | undefined },
): Promise<Result<MerchantRow, Failure>> {
  const { nowMs } = deps;
  const mailed: { delays?: { readonly before: WalletChangeDelay; readonly after: WalletChangeDelay } | undefined } = {};
  const logo = change.brand?.logo ?? undefined;
  const named = logo === undefined ? undefined : { merchantId: of.read.id, name: logo };
  const recheck = async () => (named === undefined ? ok(undefined) : checkImage(deps, { ...named, size: undefined }));
  const statements = named === undefined ? [] : [assertImage(deps.db, named)];
  const changed = await changeMerchant(deps, { ...of, recheck }, (merchant) => {
    const before = settingsOf(merchant);
    const columns = changedColumns(before, change);
    const after = askedDelay(merchant, walletChangeDelayHours, of, nowMs);
    if (!after.ok) return after;
    mailed.delays = after.value === undefined ? undefined : { before: merchant, after: after.value };
    const delay = after.value ?? merchant;
    const facts = changedFacts(
      { ...settingsFacts(before), ...delayFacts(merchant, nowMs) },
      { ...settingsFacts(settingsOf(columns)), ...delayFacts(delay, nowMs) },
    );
    if (Object.keys(facts.after).length === 0) return ok(undefined);
    return ok({ columns: { ...columns, ...after.value }, entry: { action: "settings.updated", ...facts }, statements });
  });
  if (changed.ok && mailed.delays !== undefined) {
    await mailDelay(deps, of, { merchantName: changed.value.name, author: of.author, ...mailed.delays, nowMs });
  }
  return changed;
}

/** The requested delay; undefined if it does not change. A client may send back the delay that it has read. */
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

/** Mails the team. A failed mail does not undo the change, which is in the audit log too. */
async function mailDelay(
  deps: { readonly mailer: Mailer },
  { readers }: Pick<SettingsRequest, "readers">,
  change: Parameters<typeof delayMail>[0],
): Promise<void> {
  const posted = await Promise.allSettled(readers.map(async (to) => deps.mailer.post(delayMail(change, to))));
  const lost = posted.filter(({ status }) => status === "rejected").length;
  if (lost > 0) logAlert("mails about the delay of wallet changes were lost", { lost });
}
