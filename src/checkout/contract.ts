// The wire of the checkout: what pages are asked with, and what a payment page of a merchant's own is told (decisions 7).
import * as z from "zod";
import { invoiceForPublicKeys } from "../invoices/contract.ts";
import { time } from "../lib/fields.ts";
import { NOTES } from "./note.ts";

/** What a link says that is no longer, or never was, ours is ignored: whoever follows it gets the page. */
const said = (description: string) => z.string().max(100).optional().catch(undefined).meta({ description });

const lang = said("The language of the page, such as `pt`; else it is the browser's.");

export const languageQuery = z.object({ lang });
export const checkoutQuery = z.object({
  method: said("The way to pay that is shown, such as `USDT_TRX`."),
  choose: said("Anything shows the choice of ways to pay."),
  note: z.enum(NOTES).optional().catch(undefined).meta({ description: "What came of a form." }),
  lang,
});

const field = () => z.string().max(200).catch("");

export const methodForm = z.object({ method: field().meta({ description: "The way to pay, such as `USDT_TRX`." }) });
export const claimForm = z.object({
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
      merchant: z.object({
        name: z.string(),
        color: z.string().nullable().meta({ description: "`#rrggbb`." }),
        logo: z.string().nullable().meta({ format: "uri" }),
        supportUrl: z.string().nullable().meta({ format: "uri" }),
      }),
      monitorUntil: time().meta({ description: "Until when payments are looked for." }),
    })
    .meta({ title: "Checkout" });
