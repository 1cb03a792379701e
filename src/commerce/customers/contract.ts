// The wire format of customers: requests and answers (decisions 10).
import * as z from "zod";
import { isAnyGiven, metadataField, textField, time } from "../../lib/fields.ts";
import { listBody, listQuery } from "../../lib/pagination.ts";

const fields = () => ({
  email: z.email().max(320).nullable().optional().meta({ description: "Compares in lower case." }),
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
      "must give at least one field that is not null",
    );

/** Absent keeps, null clears. */
export const updateCustomerBody = () => z.strictObject(fields()).refine(isAnyGiven, "must name at least one field");

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

// ---- answers

const amount = () => z.string().meta({ description: "Decimal with 6 fraction digits.", examples: ["49.900000"] });

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
            .meta({ description: "Null where only the country is known.", examples: ["Berlin"] }),
        })
        .nullable()
        .meta({
          description:
            "Where a checkout page of the customer was opened last, estimated from the IP address; null where that is unknown.",
        }),
    })
    .meta({ title: "LocatedCustomer" });

export const customerListBody = () => listBody(customerBody()).meta({ title: "CustomerList" });

export const salesSummaryBody = () =>
  z
    .object({
      revenue: amount()
        .nullable()
        .meta({ description: "Confirmed on paid and overpaid invoices; null where they are of several currencies." }),
      currency: z.string().nullable().meta({ description: "Of `revenue`; null where it is null or nothing is paid." }),
      revenues: z
        .array(z.object({ currency: z.string(), amount: amount() }))
        .meta({ description: "The revenue in each currency, by its code." }),
      totalInvoices: z.int(),
      paidInvoices: z.int().meta({ description: "Paid or overpaid." }),
      paidRate: z.number().meta({ description: "paidInvoices / totalInvoices, 0 to 1, to four digits." }),
    })
    .meta({ title: "CustomerResume" });
