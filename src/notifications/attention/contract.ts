// The wire format of the list of what needs attention.
import * as z from "zod";
import { time } from "../../lib/fields.ts";
import { INVOICE_STATUSES } from "../../platform/column-values.ts";
import { SOME_FAILURES } from "../webhooks/retry-schedule.ts";
import { MOST_COUNTED, MOST_SHOWN } from "./attention.ts";

const since = (description: string) => time().nullable().meta({ description });

const kind = <T extends string>(type: T, meaning: string, one: z.ZodRawShape) =>
  z
    .object({
      type: z.literal(type),
      count: z.int().meta({ description: `How many there are, up to ${MOST_COUNTED}.` }),
      isMore: z.boolean().meta({ description: "Whether there are more than `count`." }),
      since: since("The time of the oldest; null if unknown."),
      newest: z.array(z.object(one)).meta({ description: `At most ${MOST_SHOWN}, newest first.` }),
    })
    .meta({ description: meaning });

const wallet = () => ({ walletId: z.string(), network: z.string(), cryptocurrency: z.string() });
const invoice = () => ({
  invoiceId: z.string(),
  externalId: z.string().nullable(),
  name: z.string(),
  status: z.enum(INVOICE_STATUSES),
  isLate: z.boolean(),
  since: time().meta({ description: "When the invoice was created." }),
});
const endpoint = () => ({ webhookId: z.string(), url: z.string(), failuresInRow: z.int() });

const item = () =>
  z.union([
    kind("WALLET_ALTERED", "A wallet's row was altered in the database, so the wallet is not used.", {
      ...wallet(),
      since: since("When it was frozen; null if that has not happened yet."),
    }),
    kind("NETWORK_LAGGING", "A network of enabled wallets cannot be read, so that payments are not seen.", {
      network: z.string(),
      reason: z.string().nullable(),
      walletIds: z.array(z.string()),
      since: since("When it began."),
    }),
    kind("WALLET_AMOUNTS_LOW", "In the last 24 hours most amounts of one price were in use at a wallet's address.", {
      ...wallet(),
      since: since("The time of the newest warning."),
    }),
    kind("WALLET_GAP", "So many addresses in a row were not paid that wallet software may stop looking.", {
      ...wallet(),
      gap: z.int().nullable(),
      since: since("The time of the warning; null if unknown."),
    }),
    kind("WALLET_CHANGE_PENDING", "A wallet was registered or enabled and is not used yet.", {
      ...wallet(),
      usableFrom: time(),
      since: since("The time of the change."),
    }),
    kind("PAYMENT_UNMATCHED", "No rule credited the payment: assign or ignore it.", {
      paymentId: z.string(),
      network: z.string(),
      currency: z.string(),
      amount: z.string().nullable(),
      txHash: z.string(),
      since: time().meta({ description: "When it was first seen." }),
    }),
    kind("INVOICE_IN_REVIEW", "Money came late or could not be valued: accept, dismiss or return it.", invoice()),
    kind("INVOICE_UNDERPAID", "Too little was paid within the last 30 days, and no one has decided yet.", invoice()),
    kind("ENDPOINT_DISABLED", "An endpoint was switched off because it failed.", {
      ...endpoint(),
      reason: z.enum(["GONE", "FAILING"]),
      since: since("When it began."),
    }),
    kind("ENDPOINT_FAILING", `An endpoint failed at least ${SOME_FAILURES} times in a row.`, {
      ...endpoint(),
      since: since("The time of the first of these failures."),
    }),
  ]);

export const attentionBody = () =>
  z.object({ data: z.array(item()) }).meta({
    title: "Attention",
    examples: [
      {
        data: [
          {
            type: "PAYMENT_UNMATCHED",
            count: 1,
            isMore: false,
            since: "2026-11-21T12:00:00.000Z",
            newest: [
              {
                paymentId: "pay_01KAJ3ZD0000QG5Y2M4T8XW6VB",
                network: "ETH",
                currency: "USDT",
                amount: "49.9",
                txHash: `0x${"5c".repeat(32)}`,
                since: "2026-11-21T12:00:00.000Z",
              },
            ],
          },
        ],
      },
    ],
  });
