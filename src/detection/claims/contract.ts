// Wire format of a payer's claim (decisions 5).
import * as z from "zod";
import { textField as text, time } from "../../lib/fields.ts";
import { CLAIM_OUTCOMES } from "./claim.ts";

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
          "FOUND: the transaction pays an address of this invoice. NOT_FOUND: it does not, or not yet. UNAVAILABLE: no source of chain data could be asked; try again later.",
      }),
      createdAt: time(),
    })
    .meta({ title: "PaymentClaim" });
