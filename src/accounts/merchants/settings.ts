// A merchant's settings (decisions 4 "Merchant settings"): their columns, their changes and their audit entries. When an invoice is created, it
// copies the tolerances, the times and the policy for late payments, so that changing these never affects an existing invoice. The other settings are
// read when they are used.

import { formatMicros } from "../../lib/money.ts";
import { type JsonOf, parseJson, printJson } from "../../lib/typed-json.ts";
import type { AuditFacts } from "../../platform/audit/entry.ts";

export interface Brand {
  readonly name: string | null;
  /** `#rrggbb`. */
  readonly color: string | null;
  /** An https URL. */
  readonly supportUrl: string | null;
  /** The name of an uploaded image. */
  readonly logo: string | null;
}

export interface Settings {
  readonly invoiceLifetimeSeconds: number;
  readonly rateLockSeconds: number;
  readonly underpaidToleranceBasisPoints: number;
  /** In the invoice's currency. */
  readonly underpaidToleranceMaxMicros: bigint;
  readonly overpaidToleranceBasisPoints: number;
  readonly monitorSeconds: number;
  readonly latePaymentPolicy: "REVIEW" | "ACCEPT";
  /** How long an invoice still accepts payments after it has ended, at the price that it had when it ended. */
  readonly lateGraceSeconds: number;
  readonly quorumAboveMicros: bigint | null;
  /** The limit for the merchant's own server and members. */
  readonly maxActiveInvoices: number;
  /** The limit for public keys and product pages. */
  readonly maxPublicInvoices: number;
  /** Whether the customer of a paid invoice gets an email, if their address is known. */
  readonly mailReceiptsToCustomers: boolean;
  /** Whether every OWNER and ADMIN gets this email too. */
  readonly mailReceiptsToMerchant: boolean;
  readonly brand: Brand;
  /** Origins that may frame the checkout. */
  readonly frameAncestors: readonly string[];
  /** The store's id at BTCPay Server, by which plugins may still call the merchant. */
  readonly formerStoreId: string | null;
}

/** The settings as columns. Two of them are JSON, null if not set. */
export interface SettingsColumns extends Omit<Settings, "brand" | "frameAncestors"> {
  readonly brand: JsonOf<Partial<Brand>> | null;
  readonly frameAncestors: JsonOf<readonly string[]> | null;
}

/** A change to the settings. A member that is left out keeps its value, also within the brand. `brand: null` removes the whole brand. */
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

/** The settings after a change, as columns to write. */
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

/** Picks the settings' columns from a row that has more columns. */
function settingsColumns(row: SettingsColumns): SettingsColumns {
  return {
    invoiceLifetimeSeconds: row.invoiceLifetimeSeconds,
    rateLockSeconds: row.rateLockSeconds,
    underpaidToleranceBasisPoints: row.underpaidToleranceBasisPoints,
    underpaidToleranceMaxMicros: row.underpaidToleranceMaxMicros,
    overpaidToleranceBasisPoints: row.overpaidToleranceBasisPoints,
    monitorSeconds: row.monitorSeconds,
    latePaymentPolicy: row.latePaymentPolicy,
    lateGraceSeconds: row.lateGraceSeconds,
    quorumAboveMicros: row.quorumAboveMicros,
    maxActiveInvoices: row.maxActiveInvoices,
    maxPublicInvoices: row.maxPublicInvoices,
    mailReceiptsToCustomers: row.mailReceiptsToCustomers,
    mailReceiptsToMerchant: row.mailReceiptsToMerchant,
    brand: row.brand,
    frameAncestors: row.frameAncestors,
    formerStoreId: row.formerStoreId,
  };
}

/** The settings by their names in the API, for the audit log. */
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
    lateGraceSeconds: settings.lateGraceSeconds,
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
    formerStoreId: settings.formerStoreId,
  };
}

/** Converts hundredths of a percent to percent: 125 becomes 1.25. */
export function percentOf(basisPoints: number): number {
  return basisPoints / 100;
}

/**
 * Parses an https origin for use in a Content-Security-Policy: scheme, host name and port, in lower case, without a default port. Undefined for
 * anything else, because a URL parser allows characters in a host that are separators in a policy.
 */
export function frameOrigin(text: string): string | undefined {
  if (!/^https:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?\/?$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).origin;
}
