// The wire format of the search over a merchant's invoices, customers and payments.
import * as z from "zod";
import { time } from "../../lib/fields.ts";
import { INVOICE_STATUSES } from "../../platform/column-values.ts";
import { PAYMENT_STATUSES } from "../payments/payment.ts";
import { CUSTOMER_MATCHES, INVOICE_MATCHES, MOST_FOUND, PAYMENT_MATCHES } from "../search-index/search-term.ts";

/** The longest email; ids, hashes, addresses and external ids are shorter. */
const LONGEST = 320;

export const searchQuery = () =>
  z.object({
    q: z
      .string()
      .max(LONGEST)
      .refine((text) => text.trim() !== "", "must not be empty")
      .meta({
        minLength: 1,
        description:
          "Words of a name, an external id, or a customer's name or email: each may be only the beginning of a word, in upper or lower case, with or without accents. Numbers are found without their leading zeros. Also an amount, with or without its currency; an id or its first 20 characters; a transaction hash or an address, or at least its first 6 characters, in upper or lower case, with or without 0x.",
        examples: ["ORDER-1001"],
      }),
  });

const matchedBy = (ways: readonly [string, ...string[]]) =>
  z.enum(ways).meta({ description: "Where the text was found." });

const invoice = () =>
  z.object({
    id: z.string(),
    externalId: z.string().nullable(),
    customerId: z.string().nullable(),
    name: z.string(),
    rawAmount: z.string().meta({ description: "Decimal with 6 fraction digits." }),
    currency: z.string(),
    status: z.enum(INVOICE_STATUSES),
    needsReview: z.boolean(),
    createdAt: time(),
    matchedBy: matchedBy(INVOICE_MATCHES),
  });

const customer = () =>
  z.object({
    id: z.string(),
    email: z.string().nullable(),
    name: z.string().nullable(),
    createdAt: time(),
    matchedBy: matchedBy(CUSTOMER_MATCHES),
  });

const payment = () =>
  z.object({
    id: z.string(),
    invoiceId: z.string().nullable(),
    network: z.string(),
    currency: z.string(),
    amount: z.string(),
    status: z.enum(PAYMENT_STATUSES),
    txHash: z.string(),
    receivedTxAt: time(),
    matchedBy: matchedBy(PAYMENT_MATCHES),
  });

const upTo = `At most ${MOST_FOUND}, best matches first. Absent if the caller lacks`;

export const searchBody = () =>
  z
    .object({
      invoices: z
        .array(invoice())
        .optional()
        .meta({ description: `${upTo} \`invoice:view\`.` }),
      customers: z
        .array(customer())
        .optional()
        .meta({ description: `${upTo} \`customer:view\`.` }),
      payments: z
        .array(payment())
        .optional()
        .meta({ description: `${upTo} \`payment:view\`.` }),
    })
    .meta({
      title: "SearchResults",
      examples: [
        {
          invoices: [
            {
              id: "inv_01KAJ3ZD0000QG5Y2M4T8XW6VB",
              externalId: "ORDER-1001",
              customerId: null,
              name: "Order 1001",
              rawAmount: "49.900000",
              currency: "EUR",
              status: "PAID",
              needsReview: false,
              createdAt: "2026-11-21T12:00:00.000Z",
              matchedBy: "EXTERNAL_ID",
            },
          ],
          customers: [],
          payments: [],
        },
      ],
    });
