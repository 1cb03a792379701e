// Wire format of a payer's claim (decisions 5).
import * as z from "zod";
import { textField as text, time } from "../../lib/fields.ts";
import { CLAIM_OUTCOMES } from "./claim.ts";
import { CLAIM_STANDINGS } from "./standing.ts";

export const claimPaymentBody = () =>
  z.strictObject({
    txHash: z
      .string()
      .regex(
        /^(0x)?[0-9a-fA-F]{64}$/,
        "must be a transaction hash: 64 hexadecimal digits, starting with 0x on EVM networks",
      )
      .meta({ examples: [`0x${"5c".repeat(32)}`] }),
    network: text(30),
  });

export const claimBody = () =>
  z
    .object({
      id: z.string(),
      invoiceId: z.string(),
      network: z.string(),
      txHash: z.string(),
      outcome: z.enum(CLAIM_OUTCOMES).meta({
        description:
          "The result of the lookup. FOUND: the transaction pays an address of this invoice, which other invoices may share: `standing` says whether it pays this one. NOT_FOUND: it does not, or not yet. UNAVAILABLE: no source of chain data could be asked; try again later.",
      }),
      standing: z.enum(CLAIM_STANDINGS).meta({
        description:
          "How the transaction now relates to this invoice. CREDITED: it is a payment to this invoice. LATE: it is a payment that came too late to count. TO_DECIDE: the shop has to decide which order it is for. OTHER_ORDER: it is credited to another invoice of the shop. SET_ASIDE: the shop decided to ignore it. TOO_LITTLE: it is too small to count. REORGED, DROPPED: it left the chain. NOT_THIS: it pays someone else. NOT_FOUND: no payment is known yet. UNAVAILABLE: no payment is known yet, and no source could be asked. OVER: no payment is known, and payments are no longer watched for.",
      }),
      amounts: z.array(z.object({ cryptocurrency: z.string(), amount: z.string() })).meta({
        description: "The amounts that the transaction paid, by coin, without those that belong to other invoices.",
      }),
      createdAt: time(),
    })
    .meta({ title: "PaymentClaim" });
