// The wire of the checkout: the queries of its pages, and what a merchant's own payment page gets (decisions 7).
import * as z from "zod";
import { invoiceForPublicKeys, methodBody } from "../../commerce/invoices/contract.ts";
import { time } from "../../lib/fields.ts";
import { NOTES } from "./note.ts";

/** A value in a link that is unknown, or that we no longer use, is ignored: the link still opens the page. */
const said = (description: string) => z.string().max(100).optional().catch(undefined).meta({ description });

const lang = () => said("The language of the page, such as `pt`; else it is the browser's.");

export const languageQuery = () => z.object({ lang: lang() });
export const checkoutQuery = () =>
  z.object({
    method: said("The way to pay that is shown, such as `USDT_TRX`."),
    choose: said("Anything shows the choice of ways to pay."),
    note: z.enum(NOTES).optional().catch(undefined).meta({ description: "What came of a form." }),
    lang: lang(),
  });

const field = () => z.string().max(200).catch("");

export const methodForm = () =>
  z.object({ method: field().meta({ description: "The way to pay, such as `USDT_TRX`." }) });
export const claimForm = () =>
  z.object({
    network: field().meta({ description: "The network of the transaction." }),
    txHash: field().meta({ description: "Its hash." }),
  });

export const checkoutBody = () =>
  invoiceForPublicKeys()
    .extend({
      redirectUrl: z.string().nullable().meta({
        description:
          "Null until the invoice is PAID or OVERPAID; then where to send the payer, with invoiceId, status, timestamp, keyId and signature.",
      }),
      paymentMethods: z.array(
        methodBody()
          .extend({
            coinName: z.string().meta({ examples: ["Tether USD"] }),
            networkName: z.string().meta({ description: "In plain words.", examples: ["TRON"] }),
            standard: z.string().nullable().meta({ description: "As exchanges list a token, such as `TRC-20`." }),
            isTest: z.boolean().meta({ description: "Whether its coins have no value." }),
            isAddressShared: z.boolean().nullable().meta({
              description:
                "True where only the exact amount, in one payment, tells this invoice's from another's; null while no address is shown.",
            }),
            validUntil: time().nullable().meta({
              description:
                "Until when to pay this amount. Before `expiresAt` it is only quoted anew by the next read; null while no address is shown.",
            }),
          })
          .meta({ title: "CheckoutPaymentMethod" }),
      ),
      merchant: z.object({
        name: z.string(),
        color: z.string().nullable().meta({ description: "`#rrggbb`." }),
        logo: z.string().nullable().meta({ format: "uri" }),
        supportUrl: z.string().nullable().meta({ format: "uri" }),
      }),
      monitorUntil: time().meta({ description: "Until when payments are looked for." }),
      now: time().meta({ description: "By our clock, so that a countdown does not depend on the payer's." }),
    })
    .meta({ title: "Checkout" });
