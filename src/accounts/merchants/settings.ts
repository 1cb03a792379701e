// A merchant's settings (decisions 4 "Merchant settings"): what the columns hold, what a change makes of them, what the audit log says.
// An invoice copies them when it is made, so that a change never touches an existing invoice.

import { formatMicros } from "../../lib/money.ts";
import { type JsonOf, parseJson, printJson } from "../../lib/typed-json.ts";
import type { AuditFacts } from "../../platform/audit/entry.ts";

export interface Brand {
  readonly name: string | null;
  /** `#rrggbb`. */
  readonly color: string | null;
  /** https. */
  readonly supportUrl: string | null;
  /** Name of an uploaded image. */
  readonly logo: string | null;
}

export interface Settings {
  readonly invoiceLifetimeSeconds: number;
  readonly rateLockSeconds: number;
  readonly underpaidToleranceBasisPoints: number;
  /** Of the currency of whichever invoice. */
  readonly underpaidToleranceMaxMicros: bigint;
  readonly overpaidToleranceBasisPoints: number;
  readonly monitorSeconds: number;
  readonly latePaymentPolicy: "REVIEW" | "ACCEPT";
  readonly quorumAboveMicros: bigint | null;
  /** Of the merchant's own server and members. */
  readonly maxActiveInvoices: number;
  /** Of public keys and product pages. */
  readonly maxPublicInvoices: number;
  /** A mail to the customer of each invoice that is paid, where their address is known. */
  readonly mailReceiptsToCustomers: boolean;
  /** The same to every OWNER and ADMIN. */
  readonly mailReceiptsToMerchant: boolean;
  readonly brand: Brand;
  /** Origins that may frame the checkout. */
  readonly frameAncestors: readonly string[];
}

/** The settings as their columns: two of them JSON, null for nothing said. */
export interface SettingsColumns extends Omit<Settings, "brand" | "frameAncestors"> {
  readonly brand: JsonOf<Partial<Brand>> | null;
  readonly frameAncestors: JsonOf<readonly string[]> | null;
}

/** What a change says: an absent member keeps. Of the brand too, where null as a whole takes all of it away. */
export type SettingsChange = {
  readonly [K in Exclude<keyof Settings, "brand">]?: Settings[K] | undefined;
} & { readonly brand?: { readonly [K in keyof Brand]?: Brand[K] | undefined } | null | undefined };

const NO_BRAND: Brand = { name: null, color: null, supportUrl: null, logo: null };

export function settingsOf(columns: SettingsColumns): Settings {
  const { brand, frameAncestors, ...rest } = settingsColumns(columns);
  const said = brand === null ? {} : parseJson(brand);
  const origins = frameAncestors === null ? [] : parseJson(frameAncestors);
  return { ...rest, brand: { ...NO_BRAND, ...said }, frameAncestors: origins };
}

/** The settings with a change, as columns to write. */
export function changedColumns(settings: Settings, change: SettingsChange): SettingsColumns {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const brand = changedBrand(settings.brand, change.brand);
  const { frameAncestors, ...rest }: Settings = { ...settings, ...given, brand };
  const isUnbranded = Object.values(brand).every((value) => value === null);
  return {
    ...rest,
    brand: isUnbranded ? null : printJson(brand),
    frameAncestors: frameAncestors.length === 0 ? null : printJson(frameAncestors),
  };
}

function changedBrand(brand: Brand, change: SettingsChange["brand"]): Brand {
  if (change === null) return NO_BRAND;
  const { name = brand.name, color = brand.color, supportUrl = brand.supportUrl, logo = brand.logo } = change ?? {};
  return { name, color, supportUrl, logo };
}

/** Only the columns of the settings, of a row that has more. */
function settingsColumns(row: SettingsColumns): SettingsColumns {
  return {
    invoiceLifetimeSeconds: row.invoiceLifetimeSeconds,
    rateLockSeconds: row.rateLockSeconds,
    underpaidToleranceBasisPoints: row.underpaidToleranceBasisPoints,
    underpaidToleranceMaxMicros: row.underpaidToleranceMaxMicros,
    overpaidToleranceBasisPoints: row.overpaidToleranceBasisPoints,
    monitorSeconds: row.monitorSeconds,
    latePaymentPolicy: row.latePaymentPolicy,
    quorumAboveMicros: row.quorumAboveMicros,
    maxActiveInvoices: row.maxActiveInvoices,
    maxPublicInvoices: row.maxPublicInvoices,
    mailReceiptsToCustomers: row.mailReceiptsToCustomers,
    mailReceiptsToMerchant: row.mailReceiptsToMerchant,
    brand: row.brand,
    frameAncestors: row.frameAncestors,
  };
}

/** The settings by their names on the wire, for the audit log. */
export function settingsFacts(settings: Settings): AuditFacts {
  const { brand, quorumAboveMicros: quorum } = settings;
  return {
    invoiceLifetimeSeconds: settings.invoiceLifetimeSeconds,
    rateLockSeconds: settings.rateLockSeconds,
    underpaidTolerancePercent: percentOf(settings.underpaidToleranceBasisPoints),
    underpaidToleranceMax: formatMicros(settings.underpaidToleranceMaxMicros),
    overpaidTolerancePercent: percentOf(settings.overpaidToleranceBasisPoints),
    monitorSeconds: settings.monitorSeconds,
    latePaymentPolicy: settings.latePaymentPolicy,
    quorumAboveAmount: quorum === null ? null : formatMicros(quorum),
    maxActiveInvoices: settings.maxActiveInvoices,
    maxPublicInvoices: settings.maxPublicInvoices,
    mailReceiptsToCustomers: settings.mailReceiptsToCustomers,
    mailReceiptsToMerchant: settings.mailReceiptsToMerchant,
    "brand.name": brand.name,
    "brand.color": brand.color,
    "brand.supportUrl": brand.supportUrl,
    "brand.logo": brand.logo,
    frameAncestors: settings.frameAncestors,
  };
}

/** Hundredths of a percent as percent: 125 is 1.25. */
export function percentOf(basisPoints: number): number {
  return basisPoints / 100;
}

/**
 * An https origin as a Content-Security-Policy may hold it: scheme, host name and port, lower case, no default port. Undefined for
 * anything else: a policy is a list with separators of its own, which a URL parser allows in a host.
 */
export function frameOrigin(text: string): string | undefined {
  if (!/^https:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?\/?$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).origin;
}
