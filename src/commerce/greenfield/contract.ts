// Greenfield's request and response schemas, for the API reference. Other members that a plugin sends are accepted and ignored; our own schemas check
// those that are used.
import * as z from "zod";
import { WEBHOOK_TYPES } from "./webhook-type.ts";

const decimal = () => z.string().meta({ format: "decimal" });
const unixSeconds = () => z.int().meta({ description: "Unix seconds." });
const metadata = () =>
  z.looseObject({ orderId: z.string().optional() }).meta({
    description:
      "Any JSON object of at most 50 members and 8,192 bytes. Invoices can be found by `orderId`; several may have the same one.",
  });

export const createInvoice = () =>
  z.looseObject({
    amount: z
      .union([z.string(), z.number()])
      .nullable()
      .optional()
      .meta({ description: "If absent or null, any amount is accepted." }),
    currency: z.string().optional(),
    metadata: metadata().optional(),
    checkout: z
      .looseObject({
        paymentMethods: z
          .array(z.string())
          .optional()
          .meta({ examples: [["BTC-CHAIN", "USDT-TRX"]] }),
        expirationMinutes: z.number().optional(),
        paymentTolerance: z
          .number()
          .optional()
          .meta({ description: "In percent; at most the merchant's own tolerance." }),
        redirectURL: z.string().optional(),
      })
      .optional(),
  });
export const updateInvoice = () => z.looseObject({ metadata: metadata() });
export const markInvoice = () => z.looseObject({ status: z.enum(["Settled", "Invalid"]) });

export const invoice = () =>
  z
    .looseObject({
      id: z.string(),
      storeId: z.string(),
      amount: decimal(),
      paidAmount: decimal(),
      currency: z.string(),
      type: z.enum(["Standard", "TopUp"]),
      checkoutLink: z.string(),
      createdTime: unixSeconds(),
      expirationTime: unixSeconds(),
      monitoringExpiration: unixSeconds(),
      status: z.enum(["New", "Processing", "Settled", "Expired", "Invalid"]),
      additionalStatus: z.enum(["None", "PaidLate", "PaidPartial", "Marked", "PaidOver"]),
      availableStatusesForManualMarking: z.array(z.enum(["Settled", "Invalid"])),
      archived: z.boolean(),
      metadata: metadata(),
      checkout: z.looseObject({}),
    })
    .meta({ title: "GreenfieldInvoice" });
export const invoices = () => z.array(invoice());
export const invoiceMethods = () =>
  z.array(
    z.looseObject({
      paymentMethodId: z.string(),
      currency: z.string(),
      destination: z.string().nullable(),
      rate: decimal().nullable(),
      totalPaid: decimal(),
      due: decimal(),
      amount: decimal(),
      payments: z.array(
        z.looseObject({
          id: z.string(),
          receivedDate: unixSeconds(),
          value: decimal(),
          status: z.enum(["Processing", "Settled", "Invalid"]),
        }),
      ),
    }),
  );

const webhookFields = () => ({
  url: z.string(),
  enabled: z.boolean().optional(),
  automaticRedelivery: z.boolean().optional(),
  authorizedEvents: z
    .looseObject({
      everything: z.boolean().optional(),
      specificEvents: z.array(z.string().meta({ enum: [...WEBHOOK_TYPES] })).optional(),
    })
    .optional(),
});
export const updateWebhook = () => z.looseObject(webhookFields());
export const createWebhook = () => z.looseObject({ ...webhookFields(), secret: z.string().nullable().optional() });
export const webhook = () => z.looseObject({ id: z.string(), ...webhookFields(), secret: z.string().optional() });
export const webhooks = () => z.array(webhook());

export const store = () => z.looseObject({ id: z.string(), name: z.string() });
export const stores = () => z.array(store());
export const storeMethods = () => z.array(z.looseObject({ paymentMethodId: z.string(), enabled: z.boolean() }));
export const currentKey = () =>
  z.looseObject({ apiKey: z.string(), label: z.string(), permissions: z.array(z.string()) });
export const serverInfo = () => z.looseObject({ version: z.string(), fullySynched: z.boolean() });
export const ratesQuery = () =>
  z.object({
    currencyPair: z
      .string()
      .max(200)
      .optional()
      .meta({ description: "A pair such as `BTC_USD`, or several separated by commas." }),
  });
export const rates = () =>
  z.array(z.looseObject({ currencyPair: z.string(), errors: z.array(z.string()), rate: decimal().nullable() }));

export const listQuery = () =>
  z.object({
    orderId: z
      .string()
      .optional()
      .meta({ description: "Only invoices with exactly this `metadata.orderId`. Repeat the parameter for several." }),
    textSearch: z.string().optional(),
    status: z.string().optional(),
    startDate: z.string().optional(),
    endDate: z.string().optional(),
    skip: z.int().optional(),
    take: z.int().optional(),
    includeArchived: z.boolean().optional(),
  });
