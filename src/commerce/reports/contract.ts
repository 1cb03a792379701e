// The wire format of reports (decisions 13).
import * as z from "zod";
import { time } from "../../lib/fields.ts";
import { LIMITS } from "../../lib/limits.ts";
import { currencyField } from "../../rates/contract.ts";
import { clockOf, dayOf, PERIOD_KINDS, type Period, periodsOf } from "./calendar.ts";

export const day = (description: string, example: string) =>
  z.iso
    .date("must be a date such as 2026-11-01")
    .refine((text) => text >= "2000", "must not be before 2000")
    .meta({ description, examples: [example] });

export const timezoneField = () =>
  z
    .string()
    .max(64)
    .default("UTC")
    .meta({ description: "The IANA time zone in which days begin.", examples: ["Europe/Berlin"] });
export const NO_ZONE = "must be the name of an IANA time zone, such as Europe/Berlin";

const fields = () =>
  z.object({
    from: day("The first day, in `timezone`.", "2026-11-01"),
    to: day(
      `The last day, in \`timezone\`. The range has at most ${LIMITS.reportDays} days, including the first and the last.`,
      "2026-11-30",
    ),
    by: z.enum(PERIOD_KINDS).default("day").meta({
      description: "The length of each period. Weeks begin on Mondays; the first and the last period may be shorter.",
    }),
    currency: currencyField()
      .optional()
      .meta({ description: "Only invoices in this currency. The default is all currencies." }),
    timezone: timezoneField(),
  });

/** Adds the requested periods to the parsed query. */
export const totalsQuery = () =>
  fields().transform((query, context) => {
    const [from, to] = [dayOf(query.from), dayOf(query.to)];
    const refuse = (path: keyof typeof query, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    const clock = clockOf(query.timezone);
    if (clock === undefined) refuse("timezone", NO_ZONE);
    if (to < from) refuse("to", "must not be before from");
    if (to - from >= LIMITS.reportDays) refuse("to", `must be at most ${LIMITS.reportDays} days with from`);
    if (clock === undefined || context.issues.length > 0) return z.NEVER;
    const periods: readonly Period[] = periodsOf(clock, { from, to, by: query.by });
    return { ...query, periods };
  });

// ---- responses

const fiat = () => z.string().meta({ description: "Decimal with 6 fraction digits.", examples: ["1249.500000"] });
const inCurrency = () => z.object({ currency: z.string().meta({ examples: ["EUR"] }), amount: fiat() });
const count = (description: string, example: number) => z.int().meta({ description, examples: [example] });

const sums = () =>
  z.object({
    invoices: z.object({
      created: count("Invoices created in the period.", 41),
      paid: count("Invoices that became PAID in the period and still are.", 30),
      overpaid: count("Invoices that became OVERPAID in the period and still are.", 1),
      underpaid: count("Invoices that became UNDERPAID in the period and still are.", 2),
      expired: count("Invoices that became EXPIRED in the period and still are.", 6),
      cancelled: count("Invoices that became CANCELLED in the period and still are.", 1),
    }),
    timeToPaid: z
      .object({
        invoices: count(
          "Invoices paid in the period after a payment method was picked, except those accepted by hand.",
          31,
        ),
        seconds: z.string().meta({
          description:
            "The sum of the seconds that these invoices took from the first choice of a payment method to PAID or OVERPAID. Divide by `invoices` for the mean.",
          examples: ["24180"],
        }),
      })
      .meta({ description: "How long customers took to pay." }),
    payments: count("Payments received in the period and credited to an invoice, except those on test networks.", 33),
    unpriced: count(
      "Payments without a value in the invoice currency; the amounts by currency do not include them.",
      0,
    ),
    received: z.array(inCurrency()).meta({ description: "The value of the payments at receipt, by invoice currency." }),
    coins: z
      .array(
        z.object({
          network: z.string().meta({ examples: ["BTC"] }),
          cryptocurrency: z.string().meta({ examples: ["BTC"] }),
          isTest: z.boolean().meta({
            description: "True for a test network, whose payments are not included in any other sum.",
          }),
          payments: count("Payments in this coin.", 20),
          units: z.string().meta({ description: "Their sum in base units.", examples: ["1905000"] }),
          amount: z.string().meta({ description: "The same in whole coins.", examples: ["0.01905"] }),
          received: z.array(inCurrency()).meta({
            description: "Their value at receipt, by invoice currency; empty on a test network.",
          }),
        }),
      )
      .meta({ description: "The payments by coin." }),
  });

export const totalsBody = () =>
  z
    .object({
      from: z.string().meta({ examples: ["2026-11-01"] }),
      to: z.string().meta({ examples: ["2026-11-30"] }),
      by: z.enum(PERIOD_KINDS),
      timezone: z.string().meta({ examples: ["Europe/Berlin"] }),
      currency: z.string().nullable().meta({ description: "Null if the report includes all currencies." }),
      total: sums().meta({ description: "The sums over all periods." }),
      periods: z
        .array(
          sums().extend({
            from: z.string().meta({ description: "The first day of the period.", examples: ["2026-11-01"] }),
            to: z.string().meta({ description: "The last day of the period.", examples: ["2026-11-01"] }),
            startsAt: time().meta({ description: "When the first day begins in the time zone." }),
            endsAt: time().meta({
              description: "When the next period begins. This moment is not part of this period.",
            }),
          }),
        )
        .meta({ description: "Every period from the first day to the last, oldest first." }),
    })
    .meta({ title: "ReportTotals" });
