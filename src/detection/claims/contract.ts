// The wire of a payer's claim (decisions 5).
import * as z from "zod";
import { textField as text, time } from "../../lib/fields.ts";
import { CLAIM_OUTCOMES } from "./claim.ts";

export const claimPaymentBody = () =>
  z.strictObject({
    txHash: z
      .string()
      .regex(/^(0x)?[0-9a-fA-F]{64}$/, "must be a transaction's hash: 64 hexadecimal digits, after 0x on EVM networks")
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
          "FOUND: it pays to an address of this invoice. NOT_FOUND: not so, or not yet. UNAVAILABLE: nobody could look.",
      }),
      createdAt: time(),
    })
    .meta({ title: "PaymentClaim" });
