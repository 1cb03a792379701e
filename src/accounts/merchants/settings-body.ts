import { formatMicros } from "../../lib/money.ts";
import { isoTime } from "../../lib/time.ts";
import { imageUrl } from "../images/image.ts";
import { percentOf, type SettingsColumns, settingsOf } from "./settings.ts";
import { delayHoursAt, pendingDelay, type WalletChangeDelay } from "./wallet-change-delay.ts";

export interface SettingsContext {
  /** Our own origin. */
  readonly publicUrl: string;
  /** Whether every watched network has a second source; without one there is no quorum. */
  readonly hasSecondSources: boolean;
  readonly nowMs: number;
}

/** The settings in the format of the API. */
export function settingsBodyOf(
  row: SettingsColumns & WalletChangeDelay & { readonly id: string; readonly updatedAtMs: number },
  { publicUrl, hasSecondSources, nowMs }: SettingsContext,
) {
  const settings = settingsOf(row);
  const { brand, quorumAboveMicros: quorum } = settings;
  const pending = pendingDelay(row, nowMs);
  const logoUrl = brand.logo === null ? null : imageUrl(publicUrl, { merchantId: row.id, name: brand.logo });
  return {
    invoiceLifetimeSeconds: settings.invoiceLifetimeSeconds,
    rateLockSeconds: settings.rateLockSeconds,
    underpaidTolerancePercent: percentOf(settings.underpaidToleranceBasisPoints),
    underpaidToleranceMax: formatMicros(settings.underpaidToleranceMaxMicros),
    overpaidTolerancePercent: percentOf(settings.overpaidToleranceBasisPoints),
    monitorSeconds: settings.monitorSeconds,
    latePaymentPolicy: settings.latePaymentPolicy,
    lateGraceSeconds: settings.lateGraceSeconds,
    quorumAboveAmount: quorum === null ? null : formatMicros(quorum),
    walletChangeDelayHours: delayHoursAt(row, nowMs),
    pendingWalletChangeDelay: pending === undefined ? null : { hours: pending.hours, from: isoTime(pending.fromMs) },
    maxActiveInvoices: settings.maxActiveInvoices,
    maxPublicInvoices: settings.maxPublicInvoices,
    mailReceiptsToCustomers: settings.mailReceiptsToCustomers,
    mailReceiptsToMerchant: settings.mailReceiptsToMerchant,
    brand: { ...brand, logoUrl },
    frameAncestors: settings.frameAncestors,
    formerStoreId: settings.formerStoreId,
    warnings: quorum === null || hasSecondSources ? [] : ["QUORUM_IGNORED"],
    updatedAt: isoTime(row.updatedAtMs),
  };
}
