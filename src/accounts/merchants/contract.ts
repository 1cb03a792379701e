// The wire format of merchants and their settings (decisions 4 "Merchant settings", decisions 10).
import * as z from "zod";
import { exactAmountField as amount, isAnyGiven, textField as text, time } from "../../lib/fields.ts";
import { parseUnits } from "../../lib/money.ts";
import { listBody, listQuery } from "../../lib/pagination.ts";
import { isRedirectUrl } from "../../lib/redirect-url.ts";
import { isImageName } from "../images/image.ts";
import { PERMISSIONS, WEAKEN } from "../roles/permissions.ts";
import { ROLES } from "../roles/roles.ts";
import { MISSING_FACTORS } from "../security-policies/security-policy.ts";
import { frameOrigin } from "./settings.ts";

const name = () => text(200).meta({ description: "Display name.", examples: ["Corner shop"] });

export const createMerchantBody = () => z.strictObject({ name: name() });
export const updateMerchantBody = () => z.strictObject({ name: name() });
export const deleteMerchantBody = () =>
  z.strictObject({
    name: z.string().max(400).meta({ description: "The merchant's name, as a confirmation." }),
  });

export const listMerchantsQuery = () =>
  z.object({
    ...listQuery(),
    search: z.string().min(1).max(200).optional().meta({ description: "A prefix of the name, or an exact id." }),
  });

/** A percentage with at most two fraction digits, in hundredths. */
function percent(max: number) {
  return z
    .number()
    .min(0)
    .max(max)
    .transform((value, context) => {
      const basisPoints = parseUnits(String(value), 2);
      if (basisPoints.ok) return Number(basisPoints.value);
      context.addIssue({ code: "custom", message: "must have at most 2 fraction digits" });
      return z.NEVER;
    })
    .meta({ description: "Percent, with at most 2 fraction digits." });
}

const brand = () =>
  z.strictObject({
    name: text(100).nullable().optional(),
    color: z
      .string()
      .regex(/^#[0-9a-fA-F]{6}$/, "must be a color such as #1a2b3c")
      .nullable()
      .optional(),
    supportUrl: z
      .string()
      .max(2_048)
      .refine(
        (value) => /^https:/i.test(value) && isRedirectUrl(value),
        "must be an https URL without user name and password",
      )
      .nullable()
      .optional()
      .meta({ format: "uri" }),
    logo: z
      .string()
      .refine(isImageName, "must be the name of an uploaded image")
      .nullable()
      .optional()
      .meta({ description: "The `name` of an uploaded image." }),
  });

const frameAncestors = () =>
  z
    .array(
      z
        .string()
        .max(300)
        .transform((value, context) => {
          const origin = frameOrigin(value);
          if (origin !== undefined) return origin;
          context.addIssue({ code: "custom", message: "must be an https origin, such as https://shop.example" });
          return z.NEVER;
        }),
    )
    .max(20)
    .refine((origins) => new Set(origins).size === origins.length, "must not contain an origin twice")
    .meta({ description: "Origins whose pages may show the checkout in a frame; if empty, no page may." });

/** Every member is optional, but one must be given. A setting that is left out keeps its value. */
export const updateSettingsBody = () =>
  z
    .strictObject({
      invoiceLifetimeSeconds: z.int().min(60).max(2_592_000).optional(),
      rateLockSeconds: z.int().min(1).max(86_400).optional(),
      underpaidTolerancePercent: percent(10).optional(),
      underpaidToleranceMax: amount().optional().meta({
        description: "The largest amount that `underpaidTolerancePercent` may allow, in the invoice's currency.",
      }),
      overpaidTolerancePercent: percent(100).optional(),
      monitorSeconds: z.int().min(0).max(604_800).optional(),
      latePaymentPolicy: z.enum(["REVIEW", "ACCEPT"]).optional(),
      lateGraceSeconds: z.int().min(0).max(86_400).optional().meta({
        description: "How long after its end an invoice can be paid at the locked price; at most `monitorSeconds`.",
      }),
      quorumAboveAmount: amount().nullable().optional(),
      walletChangeDelayHours: z
        .int()
        .min(0)
        .max(168)
        .optional()
        .meta({ description: "A shorter delay takes effect once the current delay has passed." }),
      maxActiveInvoices: z.int().min(1).max(1_000_000).optional().meta({
        description: "The maximum number of active invoices created by your server and members, not by browsers.",
      }),
      maxPublicInvoices: z
        .int()
        .min(0)
        .max(1_000_000)
        .optional()
        .meta({ description: "The maximum number of active invoices created through public keys and product pages." }),
      mailReceiptsToCustomers: z.boolean().optional().meta({
        description: "Mails the customer, if their email is known, when an invoice is paid with confirmed money.",
      }),
      mailReceiptsToMerchant: z.boolean().optional().meta({
        description:
          "Mails every owner and admin when an invoice is paid, even if the team accepted it without a payment.",
      }),
      brand: brand()
        .nullable()
        .optional()
        .meta({ description: "Absent members keep their values; null removes the whole brand." }),
      frameAncestors: frameAncestors().optional(),
      formerStoreId: z
        .string()
        .regex(/^[A-Za-z0-9]{1,64}$/, "must be 1 to 64 letters and digits")
        .nullable()
        .optional()
        .meta({ description: "The merchant's former store id at BTCPay Server, which plugins may still use." }),
    })
    .refine(isAnyGiven, "must have at least one setting")
    .transform(
      ({ underpaidTolerancePercent, underpaidToleranceMax, overpaidTolerancePercent, quorumAboveAmount, ...rest }) => ({
        ...rest,
        underpaidToleranceBasisPoints: underpaidTolerancePercent,
        underpaidToleranceMaxMicros: underpaidToleranceMax,
        overpaidToleranceBasisPoints: overpaidTolerancePercent,
        quorumAboveMicros: quorumAboveAmount,
      }),
    );

// ---- responses

const amountText = () => z.string().meta({ description: "Decimal with 6 fraction digits.", examples: ["5.000000"] });

export const merchantBody = () =>
  z
    .object({
      id: z.string(),
      name: z.string(),
      role: z.enum(ROLES).nullable().meta({ description: "The caller's role in the team; null for an API key." }),
      missing: z.array(z.enum(MISSING_FACTORS)).meta({
        description:
          "Security settings that the team requires and the caller does not have. Until they are added, the caller cannot access the merchant.",
      }),
      permissions: z.array(z.enum([...PERMISSIONS, WEAKEN])).meta({ description: "What the caller may do." }),
      createdAt: time(),
      updatedAt: time(),
    })
    .meta({ title: "Merchant" });

export const merchantListBody = () => listBody(merchantBody()).meta({ title: "MerchantList" });

export const settingsBody = () =>
  z
    .object({
      invoiceLifetimeSeconds: z.int(),
      rateLockSeconds: z.int(),
      underpaidTolerancePercent: z.number(),
      underpaidToleranceMax: amountText(),
      overpaidTolerancePercent: z.number(),
      monitorSeconds: z.int(),
      latePaymentPolicy: z.enum(["REVIEW", "ACCEPT"]),
      lateGraceSeconds: z.int(),
      quorumAboveAmount: amountText().nullable(),
      walletChangeDelayHours: z.int().meta({ description: "The delay in effect now." }),
      pendingWalletChangeDelay: z
        .object({ hours: z.int(), from: time() })
        .nullable()
        .meta({ description: "A requested shorter delay, and when it takes effect." }),
      maxActiveInvoices: z.int(),
      maxPublicInvoices: z.int(),
      mailReceiptsToCustomers: z.boolean(),
      mailReceiptsToMerchant: z.boolean(),
      brand: z.object({
        name: z.string().nullable(),
        color: z.string().nullable(),
        supportUrl: z.string().nullable(),
        logo: z.string().nullable().meta({ description: "The `name` of an uploaded image." }),
        logoUrl: z.string().nullable(),
      }),
      frameAncestors: z.array(z.string()),
      formerStoreId: z.string().nullable(),
      warnings: z
        .array(z.string())
        .meta({ description: "Stable codes: QUORUM_IGNORED if a network has only one chain source." }),
      updatedAt: time(),
    })
    .meta({ title: "Settings" });
