// The wire format of payments: how they are listed, how one explains its state, and what can be decided about it by hand (decisions 5).
import * as z from "zod";
import { networkNamed } from "../../chains/networks.ts";
import { textField as text, time } from "../../lib/fields.ts";
import { listBody, listQuery } from "../../lib/pagination.ts";
import { paymentBody } from "../invoices/contract.ts";
import { CANDIDATE_REASONS, MATCH_RULES, MOST_BY_RULES, PAYMENT_STATUSES, WEIGHED_BY } from "./payment.ts";

const REASONS = `Why the invoice was not credited: another could be meant (AMBIGUOUS), the amount is not what it asks (AMOUNT_DIFFERS), it was not its time (OUTSIDE_WINDOW), or it has ${MOST_BY_RULES} payments already, and a person decides about more (TOO_MANY_PAYMENTS).`;

const networkParameter = () =>
  z.string().transform((name, context) => {
    const network = networkNamed(name);
    if (network !== undefined) return network.name;
    context.addIssue({ code: "custom", message: "is no network that Edgetill knows" });
    return z.NEVER;
  });

export const listPaymentsQuery = () =>
  z.object({
    ...listQuery(),
    status: z.enum(PAYMENT_STATUSES).optional().meta({ description: "Only payments in this status." }),
    network: networkParameter().optional().meta({ description: "Only payments on this network." }),
    txHash: z.string().max(80).toLowerCase().optional().meta({ description: "Only those of this transaction." }),
    invoiceId: z.string().max(40).optional().meta({ description: "Only those credited to this invoice." }),
  });

export const resolvePaymentBody = () =>
  z
    .strictObject({
      action: z.enum(["ASSIGN", "IGNORE"]),
      invoiceId: z.string().max(40).optional().meta({ description: "To which invoice; with ASSIGN, and only there." }),
      reason: text(500),
    })
    .refine(({ action, invoiceId }) => (action === "ASSIGN") === (invoiceId !== undefined), {
      path: ["invoiceId"],
      message: "goes with ASSIGN, and only with it",
    });

/** `transactionHash` checks whether the hash is one of that network. */
export const lookUpPaymentBody = () =>
  z.strictObject({
    network: networkParameter().meta({ type: "string", examples: ["ETH"] }),
    txHash: z
      .string()
      .regex(/^(0x)?[0-9a-fA-F]{64}$/, "must be a transaction's hash: 64 hexadecimal digits, after 0x on EVM networks")
      .meta({ examples: [`0x${"5c".repeat(32)}`] }),
  });

// ---- answers

export const paymentListBody = () => listBody(paymentBody()).meta({ title: "PaymentList" });

export const invoicePaymentsBody = () => z.object({ data: z.array(paymentBody()) });

export const paymentDetailsBody = () =>
  paymentBody()
    .extend({
      evidence: z.object({
        rule: z.enum(MATCH_RULES).nullable().meta({ description: "What credited it." }),
        weighing: z
          .object({
            by: z.enum(WEIGHED_BY).meta({
              description:
                "The quote that asked exactly this amount, the one in force at the payment's time, the last that had ended, the market rate at first sight, or nothing: then a person decides.",
            }),
            quote: z
              .object({
                amount: z
                  .string()
                  .nullable()
                  .meta({ description: "What it asked; null where any amount was welcome." }),
                rate: z.string(),
                forAmount: z
                  .string()
                  .meta({ description: "What paying exactly that is worth, in the invoice currency." }),
                askedFrom: time(),
                lockedUntil: time(),
              })
              .nullable(),
            marketAmount: z
              .string()
              .nullable()
              .meta({ description: "Worth at the market rate of first sight; null where no rate was fresh." }),
          })
          .nullable()
          .meta({ description: "Why it is worth its fiatAmount; null while no invoice has it." }),
        raw: z.string().meta({ description: "What the source said of it: JSON as text, cut where it is long." }),
        block: z.object({ height: z.int(), hash: z.string(), time: time() }).nullable(),
        candidates: z.array(
          z.object({ invoiceId: z.string(), reason: z.enum(CANDIDATE_REASONS).meta({ description: REASONS }) }),
        ),
        claims: z.array(z.object({ id: z.string(), invoiceId: z.string(), outcome: z.string(), createdAt: time() })),
      }),
      resolution: z
        .object({ action: z.enum(["ASSIGN", "IGNORE"]), reason: z.string(), actor: z.string(), at: time() })
        .nullable(),
    })
    .meta({ title: "PaymentDetails" });
