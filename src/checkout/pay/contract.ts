// Wire format of the checkout: the queries of its pages, and the data for a merchant's own payment page (decisions 7).
import * as z from "zod";
import { invoiceForPublicKeys, methodBody } from "../../commerce/invoices/contract.ts";
import { time } from "../../lib/fields.ts";
import { NOTES } from "./note.ts";
import { USUAL_FEES } from "./usual-fee.ts";

/** An unknown or outdated value in a link is ignored, so that the link still opens the page. */
const said = (description: string) => z.string().max(100).optional().catch(undefined).meta({ description });

export const pageQuery = () =>
  z.object({
    view: said("`modal` in the frame of `/modal/btcpay.js`."),
    lang: said("The language of the page, such as `pt`. Default: the browser's language."),
  });
export const modalQuery = () => pageQuery().extend({ id: said("The id of the invoice.") });
export const checkoutQuery = () =>
  pageQuery().extend({
    method: said("The payment method to show, such as `USDT_TRX`."),
    choose: said("Any value shows the choice of payment methods."),
    note: z.enum(NOTES).optional().catch(undefined).meta({ description: "Why a form was refused." }),
    claim: said(
      "The id of a claim for this invoice: the page shows how the claimed transaction now relates to the invoice.",
    ),
  });

const field = () => z.string().max(200).catch("");

export const methodForm = () =>
  z.object({ method: field().meta({ description: "The payment method, such as `USDT_TRX`." }) });
export const claimForm = () =>
  z.object({
    network: field().meta({ description: "The network of the transaction." }),
    txHash: field().meta({ description: "The hash of the transaction." }),
  });

const checkoutMethodBody = () =>
  methodBody()
    .extend({
      coinName: z.string().meta({ examples: ["Tether USD"] }),
      networkName: z.string().meta({ description: "Display name of the network.", examples: ["TRON"] }),
      standard: z
        .string()
        .nullable()
        .meta({ description: "The token standard as exchanges list it, such as `TRC-20`." }),
      isTest: z.boolean().meta({ description: "True for a test network, whose coins have no value." }),
      estimatedAmount: z
        .string()
        .nullable()
        .meta({
          description:
            "An estimate, rounded up, of the amount that would be due if this AVAILABLE method were picked now. Only picking it locks a rate. Null for other methods, without a rate, and once something was received.",
          examples: ["0.000499011"],
        }),
      confirmationMinutes: z.int().meta({
        description:
          "An estimate of the minutes until a payment is confirmed, at least 1: block time multiplied by `requiredConfirmations`.",
      }),
      usualFee: z.enum(USUAL_FEES).nullable().meta({
        description:
          "The network's usual fee for a transfer: LOW is a few cents at most, MEDIUM can be dollars, VARIES depends on how full blocks are. Null if it is not known.",
      }),
      isAddressShared: z.boolean().nullable().meta({
        description:
          "True if other invoices use the same address: the payer must send exactly this amount in one payment. Null while no address is shown.",
      }),
      isWatched: z.boolean().meta({
        description:
          "False if this server has no source of chain data for the network, as a development server may: a payment is not seen, so ask for none.",
      }),
      validUntil: time().nullable().meta({
        description:
          "When this amount stops being valid. If that is before `expiresAt`, the next read after that time returns a new amount. Null while no address is shown.",
      }),
    })
    .meta({ title: "CheckoutPaymentMethod" });

export const checkoutBody = () =>
  invoiceForPublicKeys()
    .extend({
      redirectUrl: z.string().nullable().meta({
        description:
          "Where to send the payer once the invoice is PAID or OVERPAID, with invoiceId, status, timestamp, keyId and signature; null before.",
      }),
      paymentMethods: z.array(checkoutMethodBody()),
      undecided: z
        .array(
          z.object({
            network: z.string(),
            cryptocurrency: z.string(),
            txHash: z.string(),
            amount: z.string(),
            receivedAt: time(),
          }),
        )
        .optional()
        .meta({
          description:
            "Transfers that reached an address of this invoice while it was being watched, are not credited, and cannot belong to another order: the merchant has to decide about them. A transfer that could belong to another order is not listed; its payer can claim it.",
        }),
      merchant: z.object({
        name: z.string(),
        color: z.string().nullable().meta({ description: "`#rrggbb`." }),
        logo: z.string().nullable().meta({ format: "uri" }),
        supportUrl: z.string().nullable().meta({ format: "uri" }),
      }),
      monitorUntil: time().meta({ description: "Payments are watched for until this time." }),
      now: time().meta({ description: "The server's time, so that a countdown does not depend on the payer's clock." }),
    })
    .meta({ title: "Checkout" });
