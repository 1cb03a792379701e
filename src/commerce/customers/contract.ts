// The wire format of customers: requests and responses (decisions 10).
import * as z from "zod";
import { amountText as amount, emailField, isAnyGiven, metadataField, textField, time } from "../../lib/fields.ts";
import { listBody, listQuery } from "../../lib/pagination.ts";

const fields = () => ({
  email: emailField().nullable().optional().meta({ description: "Compared in lower case." }),
  name: textField(200).nullable().optional(),
  address: textField(500, 0).nullable().optional(),
  phoneNumber: textField(50, 0).nullable().optional(),
  metadata: metadataField().nullable().optional().meta({ description: "At most 50 keys and 8,192 bytes as JSON." }),
});

export const upsertCustomerBody = () =>
  z
    .strictObject(fields())
    .refine(
      (body) => Object.values(body).some((value) => value !== undefined && value !== null),
      "must contain at least one field that is not null",
    );

/** An absent field is left unchanged; null clears it. */
export const updateCustomerBody = () => z.strictObject(fields()).refine(isAnyGiven, "must contain at least one field");

export const listCustomersQuery = () =>
  z.object({
    ...listQuery(),
    search: z
      .string()
      .min(1)
      .max(320)
      .optional()
      .meta({ description: "A prefix of the name, or an exact id or email." }),
  });

// ---- responses

export const customerBody = () =>
  z
    .object({
      id: z.string(),
      merchantId: z.string(),
      email: z.string().nullable(),
      name: z.string().nullable(),
      address: z.string().nullable(),
      phoneNumber: z.string().nullable(),
      metadata: z.record(z.string(), z.string()).nullable(),
      createdAt: time(),
      updatedAt: time(),
      deletedAt: time().nullable(),
    })
    .meta({ title: "Customer" });

export const locatedCustomerBody = () =>
  customerBody()
    .extend({
      location: z
        .object({
          country: z.string().meta({ description: "ISO 3166-1 alpha-2.", examples: ["DE"] }),
          city: z
            .string()
            .nullable()
            .meta({ description: "Null if only the country is known.", examples: ["Berlin"] }),
        })
        .nullable()
        .meta({
          description:
            "Where the customer last opened a checkout page, estimated from the IP address; null if unknown.",
        }),
    })
    .meta({ title: "LocatedCustomer" });

export const customerListBody = () => listBody(customerBody()).meta({ title: "CustomerList" });

export const salesSummaryBody = () =>
  z
    .object({
      revenue: amount().nullable().meta({
        description: "The confirmed amount of paid and overpaid invoices; null if these are in several currencies.",
      }),
      currency: z
        .string()
        .nullable()
        .meta({ description: "Currency of `revenue`; null if `revenue` is null or nothing is paid." }),
      revenues: z
        .array(z.object({ currency: z.string(), amount: amount() }))
        .meta({ description: "The revenue in each currency, by currency code." }),
      totalInvoices: z.int(),
      paidInvoices: z.int().meta({ description: "Invoices that are paid or overpaid." }),
      paidRate: z.number().meta({ description: "paidInvoices / totalInvoices, 0 to 1, rounded to four digits." }),
    })
    .meta({ title: "CustomerResume" });
