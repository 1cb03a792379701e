import { imageUrl } from "../images/image.ts";
import { formatMicros } from "../lib/money.ts";
import { isoTime } from "../lib/time.ts";
import { percentOf, type Settings, type SettingsColumns, settingsOf } from "./settings.ts";

/** The settings as the wire shows them; `publicUrl` is our own origin. */
export function settingsBodyOf(
  row: SettingsColumns & { readonly id: string; readonly updatedAtMs: number },
  publicUrl: string,
) {
  const settings = settingsOf(row);
  const { brand, quorumAboveMicros: quorum } = settings;
  const logoUrl = brand.logo === null ? null : imageUrl(publicUrl, { merchantId: row.id, name: brand.logo });
  return {
    invoiceLifetimeSeconds: settings.invoiceLifetimeSeconds,
    rateLockSeconds: settings.rateLockSeconds,
    underpaidTolerancePercent: percentOf(settings.underpaidToleranceBasisPoints),
    underpaidToleranceMax: formatMicros(settings.underpaidToleranceMaxMicros),
    overpaidTolerancePercent: percentOf(settings.overpaidToleranceBasisPoints),
    monitorSeconds: settings.monitorSeconds,
    latePaymentPolicy: settings.latePaymentPolicy,
    quorumAboveAmount: quorum === null ? null : formatMicros(quorum),
    walletChangeDelayHours: settings.walletChangeDelayHours,
    maxActiveInvoices: settings.maxActiveInvoices,
    brand: { ...brand, logoUrl },
    frameAncestors: settings.frameAncestors,
    warnings: warningsOf(settings),
    updatedAt: isoTime(row.updatedAtMs),
  };
}

/** What is stored and does nothing yet is said (decisions 4: a quorum is ignored with a warning where a network has one source). */
function warningsOf({ quorumAboveMicros }: Settings): readonly string[] {
  return quorumAboveMicros === null ? [] : ["QUORUM_IGNORED"];
}
