// The wire format of exports: their queries, and the lines of each (decisions 13).
import * as z from "zod";
import { time, timeParameter } from "../../lib/fields.ts";
import { INVOICE_STATUSES } from "../../platform/column-values.ts";
import { MATCH_RULES, PAYMENT_STATUSES, WEIGHED_BY } from "../payments/payment.ts";
import { clockOf, dayOf, periodsOf } from "../reports/calendar.ts";
import { day, NO_ZONE, timezoneField } from "../reports/contract.ts";
import { STATEMENT_LINES } from "./statement.ts";

const fields = () => ({
  /** Parsed into the zone's clock. */
  timezone: timezoneField().transform((zone, context) => {
    const clock = clockOf(zone);
    if (clock !== undefined) return clock;
    context.addIssue({ code: "custom", message: NO_ZONE });
    return z.NEVER;
  }),
  asOf: timeParameter().optional().meta({
    description:
      "Leaves out rows created after this time. The default is the time of the request, which the header `Export-As-Of` returns; send that value to continue an export.",
  }),
  after: z.string().max(40).optional().meta({
    description:
      "Continues after the line with this id. The column names are left out, so that the result can be appended.",
  }),
});

const rangeQuery = (first: string, last: string) =>
  z
    .object({ from: day(first, "2026-11-01").optional(), to: day(last, "2026-11-30").optional(), ...fields() })
    .transform(({ from, to, timezone, ...query }, context) => {
      if (from !== undefined && to !== undefined && to < from) {
        context.addIssue({ code: "custom", path: ["to"], message: "must not be before from" });
        return z.NEVER;
      }
      const periodOf = (date: string | undefined) => {
        if (date === undefined) return undefined;
        const [period] = periodsOf(timezone, { from: dayOf(date), to: dayOf(date), by: "day" });
        return period;
      };
      const fromMs = periodOf(from)?.startsAtMs ?? 0;
      return { ...query, fromMs, beforeMs: periodOf(to)?.endsAtMs ?? Number.MAX_SAFE_INTEGER };
    });

export const exportPaymentsQuery = () =>
  rangeQuery("The first day of receipt, in `timezone`.", "The last day of receipt, in `timezone`.");

export const exportInvoicesQuery = () =>
  rangeQuery("The first day of creation, in `timezone`.", "The last day of creation, in `timezone`.");

export const statementQuery = () =>
  z
    .object({
      month: z
        .string()
        .regex(/^2[0-9]{3}-(0[1-9]|1[0-2])$/, "must be a month such as 2026-11")
        .meta({ description: "The month, in `timezone`.", examples: ["2026-11"] }),
      ...fields(),
    })
    .transform((query) => {
      const [year = 0, month = 1] = query.month.split("-").map(Number);
      const first = dayOf(`${query.month}-01`);
      const last = dayOf(new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10));
      const days = periodsOf(query.timezone, { from: first, to: last, by: "day" });
      return { ...query, days, fromMs: days[0]?.startsAtMs ?? 0, beforeMs: days.at(-1)?.endsAtMs ?? 0 };
    });

// ---- lines

const id = (example: string) => z.string().meta({ examples: [example] });
const fiat = (description: string) => z.string().meta({ description, examples: ["49.900000"] });
const rate = () =>
  z
    .string()
    .nullable()
    .meta({
      description:
        "The price of one whole coin at which the payment was valued: that of its quote, or the market rate when it was first seen. Null while it has no value.",
      examples: ["65000.12"],
    });
const txHash = () =>
  z.string().meta({ description: "The hash of the transaction.", examples: [`0x${"5c".repeat(32)}`] });
const externalId = () =>
  z
    .string()
    .nullable()
    .meta({ description: "Your own id of the invoice.", examples: ["ORDER-1001"] });
const customerId = () => z.string().nullable().meta({ description: "The customer of the invoice." });

export const exportedPaymentBody = () =>
  z
    .object({
      id: id("pay_01KAH7Y3V5M2T8Q4W6E0R9S1XZ"),
      receivedAt: time().meta({ description: "When it was received, in UTC." }),
      status: z.enum(PAYMENT_STATUSES),
      invoiceId: z.string().nullable(),
      externalId: externalId(),
      customerId: customerId(),
      network: z.string().meta({ examples: ["ETH"] }),
      cryptocurrency: z.string().meta({ examples: ["USDT"] }),
      amount: z.string().meta({ description: "In whole coins.", examples: ["49.912345"] }),
      currency: z
        .string()
        .nullable()
        .meta({ description: "The currency of the invoice.", examples: ["EUR"] }),
      fiatAmount: fiat("Its value at receipt, in `currency`; null without an invoice or a rate.").nullable(),
      rate: rate(),
      valuedBy: z.enum(WEIGHED_BY).nullable().meta({ description: "The quote or rate that valued it." }),
      txHash: txHash(),
      outputIndex: z.string().meta({ description: "Identifies the transfer within the transaction." }),
      fromAddress: z.string().nullable(),
      toAddress: z.string(),
      isLate: z.boolean().meta({ description: "Credited, but not counted for the invoice because it came too late." }),
      matchedBy: z.enum(MATCH_RULES).nullable().meta({ description: "The rule that credited it." }),
      confirmedAt: time().nullable(),
      createdAt: time().meta({ description: "When it was recorded; lines are in this order." }),
    })
    .meta({ title: "ExportedPayment" });

export const exportedInvoiceBody = () =>
  z
    .object({
      id: id("inv_01KAH7Y3V5M2T8Q4W6E0R9S1XZ"),
      createdAt: time().meta({ description: "In UTC; lines are in this order." }),
      status: z.enum(INVOICE_STATUSES),
      statusAt: time().nullable().meta({ description: "When it got this status." }),
      externalId: externalId(),
      name: z.string(),
      customerId: customerId(),
      customerEmail: z.string().nullable(),
      customerName: z.string().nullable(),
      productId: z.string().nullable(),
      currency: z.string().meta({ examples: ["EUR"] }),
      amount: fiat("The amount it asks for; 0 for any amount."),
      amountReceived: fiat("The value of its payments at receipt."),
      amountConfirmed: fiat("The value of those payments that have enough confirmations."),
      txHashes: z
        .array(z.string())
        .meta({ description: "The hashes of the transactions that paid it; in CSV they are separated by spaces." }),
      isLate: z.boolean(),
      needsReview: z.boolean(),
      expiresAt: time(),
      paidAt: time().nullable().meta({ description: "When it was paid in full; null unless it is PAID or OVERPAID." }),
      cryptocurrencies: z.array(z.string()).meta({ description: "The coins that it was paid with." }),
      networks: z.array(z.string()).meta({ description: "The networks that it was paid on." }),
      isTest: z.boolean().meta({ description: "Whether it was paid on test networks only." }),
    })
    .meta({ title: "ExportedInvoice" });

export const statementLineBody = () =>
  z
    .object({
      line: z.enum(STATEMENT_LINES).meta({
        description:
          "PAYMENT: one payment. After all payments, COIN_TOTAL: the sum for one coin and currency. CURRENCY_TOTAL: the sum for one currency, without test networks.",
      }),
      date: z
        .string()
        .nullable()
        .meta({ description: "The day of receipt in `timezone`.", examples: ["2026-11-01"] }),
      receivedAt: time().nullable().meta({ description: "In UTC." }),
      id: id("pay_01KAH7Y3V5M2T8Q4W6E0R9S1XZ").nullable(),
      status: z.enum(["DETECTED", "CONFIRMED"]).nullable(),
      invoiceId: z.string().nullable(),
      externalId: externalId(),
      customerId: customerId(),
      network: z.string().nullable(),
      cryptocurrency: z.string().nullable(),
      amount: z
        .string()
        .nullable()
        .meta({ description: "In whole coins.", examples: ["49.912345"] }),
      currency: z.string().nullable(),
      fiatAmount: fiat("The value at receipt; null if there was no rate.").nullable(),
      rate: rate(),
      txHash: txHash().nullable(),
      payments: z.int().nullable().meta({ description: "The number of payments in a sum." }),
      unpriced: z
        .int()
        .nullable()
        .meta({ description: "The number of these payments that have no value; `fiatAmount` does not include them." }),
    })
    .meta({ title: "StatementLine" });
