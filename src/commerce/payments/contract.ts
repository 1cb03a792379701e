// The wire format of payments: the list, the details that explain a payment's state, and the manual decisions about it (decisions 5).
import * as z from "zod";
import { networkNamed } from "../../chains/registry/networks.ts";
import { amountText as amount, textField as text, time } from "../../lib/fields.ts";
import { listBody, listQuery } from "../../lib/pagination.ts";
import { LISTED_REASONS } from "./candidates.ts";
import { MATCH_RULES, MOST_BY_RULES, PAYMENT_STATUSES, RESOLUTION_ACTIONS, WEIGHED_BY } from "./payment.ts";
import { RECOMMENDATION_REASONS, RECOMMENDED_ACTIONS } from "./recommendation.ts";

const REASONS = `Why the invoice was not credited: another invoice matches too (AMBIGUOUS), the amount does not match (AMOUNT_DIFFERS), the payment's time is outside the invoice's (OUTSIDE_WINDOW), the invoice already has ${MOST_BY_RULES} payments, so that a user must decide about more (TOO_MANY_PAYMENTS), or no rule considered it (NOT_CONSIDERED).`;

/** A network in a query, by canonical name or alias. */
export const networkParameter = () =>
  z.string().transform((name, context) => {
    const network = networkNamed(name);
    if (network !== undefined) return network.name;
    context.addIssue({ code: "custom", message: "is not a supported network" });
    return z.NEVER;
  });

export const listPaymentsQuery = () =>
  z.object({
    ...listQuery(),
    status: z.enum(PAYMENT_STATUSES).optional().meta({ description: "Only payments in this status." }),
    network: networkParameter().optional().meta({ description: "Only payments on this network." }),
    txHash: z.string().max(80).toLowerCase().optional().meta({ description: "Only payments of this transaction." }),
    invoiceId: z.string().max(40).optional().meta({ description: "Only payments credited to this invoice." }),
  });

export const resolvePaymentBody = () =>
  z
    .strictObject({
      action: z.enum(RESOLUTION_ACTIONS),
      invoiceId: z
        .string()
        .max(40)
        .optional()
        .meta({ description: "The invoice to credit; required with ASSIGN and not allowed with the others." }),
      reason: text(500),
      txHash: text(100).optional().meta({ description: "The transaction that sent the money back; only with IGNORE." }),
    })
    .refine(({ action, txHash }) => action === "IGNORE" || txHash === undefined, {
      path: ["txHash"],
      message: "is only allowed with IGNORE",
    })
    .refine(({ action, invoiceId }) => (action === "ASSIGN") === (invoiceId !== undefined), {
      path: ["invoiceId"],
      message: "is required with ASSIGN and not allowed with the others",
    });

/** `transactionHash` checks the hash's format for that network. */
export const lookUpPaymentBody = () =>
  z.strictObject({
    network: networkParameter().meta({ type: "string", examples: ["ETH"] }),
    txHash: z
      .string()
      .regex(/^(0x)?[0-9a-fA-F]{64}$/, "must be a transaction's hash: 64 hexadecimal digits, with or without 0x")
      .meta({ examples: [`0x${"5c".repeat(32)}`] }),
  });

// ---- responses

export const paymentBody = () =>
  z
    .object({
      id: z.string(),
      invoiceId: z.string().nullable(),
      merchantId: z.string(),
      chainId: z.int().nullable(),
      network: z.string(),
      currency: z.string(),
      txHash: z.string(),
      outputIndex: z.string(),
      fromAddress: z.string().nullable(),
      toAddress: z.string(),
      amount: z.string(),
      fiatAmount: amount().nullable(),
      status: z.enum(["DETECTED", "CONFIRMED", "DROPPED", "REORGED", "UNMATCHED", "IGNORED"]),
      confirmations: z.int(),
      requiredConfirmations: z.int(),
      blockHeight: z.int().nullable(),
      isLate: z.boolean(),
      matchedBy: z.string().nullable(),
      receivedTxAt: time(),
      confirmedTxAt: time().nullable(),
      createdAt: time(),
      updatedAt: time(),
    })
    .meta({ title: "Payment" });

export const paymentListBody = () => listBody(paymentBody()).meta({ title: "PaymentList" });

export const invoicePaymentsBody = () => z.object({ data: z.array(paymentBody()) });

const candidateBody = () =>
  z.object({
    invoiceId: z.string(),
    reason: z.enum(LISTED_REASONS).meta({ description: REASONS }),
    isNamed: z.boolean().meta({
      description:
        "Whether someone named this transaction on the page of the invoice. Hashes are public, so this proves nothing.",
    }),
    askedAmount: z
      .string()
      .nullable()
      .meta({ description: "The closest amount that the invoice asked for in this coin; null if it asked for none." }),
    amountDiffersPercent: z
      .string()
      .nullable()
      .meta({ description: "How much more than `askedAmount` was paid, in percent; negative if less was paid." }),
    madeBeforeSeconds: z
      .int()
      .nullable()
      .meta({ description: "How long before the payment the invoice was created; negative if it was created later." }),
  });

const supersededBody = () =>
  z.object({
    paymentId: z.string(),
    currency: z.string(),
    toAddress: z.string(),
    amount: z.string(),
    blockHash: z.string().nullable(),
  });

export const recommendationBody = () =>
  z
    .object({
      action: z.enum(RECOMMENDED_ACTIONS).meta({
        description:
          "ACCEPT, DISMISS, ASK_FOR_REST and ASSIGN: make the decision with this name. RETURN: send the money back with your wallet software and record it (with RETURNED for an invoice, with IGNORE for a payment). WAIT: do not decide yet.",
      }),
      reason: z.enum(RECOMMENDATION_REASONS),
      invoiceId: z.string().nullable().meta({ description: "With ASSIGN: the invoice to credit." }),
      amount: amount().nullable().meta({
        description: "The missing amount, or with RETURN the amount to send back, in the invoice's currency.",
      }),
      until: time().nullable().meta({ description: "When the recommendation may change." }),
    })
    .meta({
      title: "Recommendation",
      description:
        "The recommended decision, computed at each read; absent if there is none. It has no effect by itself, and a payer's claim alone never leads to a recommended invoice.",
    });

const resolutionBody = () =>
  z.object({
    action: z.enum(RESOLUTION_ACTIONS),
    reason: z.string(),
    actor: z.string(),
    at: time(),
    txHash: z.string().optional().meta({ description: "The transaction that sent the money back, if given." }),
  });

export const paymentDetailsBody = () =>
  paymentBody()
    .extend({
      evidence: z.object({
        rule: z.enum(MATCH_RULES).nullable().meta({ description: "The rule that credited the payment." }),
        weighing: z
          .object({
            by: z.enum(WEIGHED_BY).meta({
              description:
                "How the payment was valued. EXACT_UNITS: by the quote for exactly this amount. IN_FORCE: by the quote in force at the payment's time. LAST_ENDED: by the last quote before that time. MARKET_RATE: by the market rate when first seen. NO_RATE: there was no rate, so a user must decide.",
            }),
            quote: z
              .object({
                amount: z
                  .string()
                  .nullable()
                  .meta({ description: "The amount quoted; null on an any-amount invoice." }),
                rate: z.string(),
                forAmount: z
                  .string()
                  .meta({ description: "The value of exactly that amount, in the invoice currency." }),
                askedFrom: time(),
                lockedUntil: time(),
              })
              .nullable(),
            marketAmount: z
              .string()
              .nullable()
              .meta({ description: "Value at the market rate when first seen; null if there was no fresh rate." }),
          })
          .nullable()
          .meta({ description: "How `fiatAmount` was computed; null while the payment has no invoice." }),
        raw: z
          .string()
          .meta({ description: "The source's own data about the transfer: JSON as text, truncated if long." }),
        block: z.object({ height: z.int(), hash: z.string(), time: time() }).nullable(),
        candidates: z.array(candidateBody()).meta({
          description:
            "Invoices that may have been meant, most likely first: one that a payer named, then the closest in amount, then in time.",
        }),
        supersedes: z.array(supersededBody()).meta({
          description:
            "Payments that this one replaced, in their last state: the same transaction had a different effect in another block, or a source was wrong. They are DROPPED.",
        }),
        claims: z.array(z.object({ id: z.string(), invoiceId: z.string(), outcome: z.string(), createdAt: time() })),
      }),
      resolution: resolutionBody().nullable(),
      recommendation: recommendationBody().optional(),
    })
    .meta({ title: "PaymentDetails" });
