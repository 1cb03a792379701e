// The wire format of the report on whether a merchant can be paid now.
import * as z from "zod";
import { DEFAULT_CURRENCY } from "../../commerce/invoices/product-terms.ts";
import { time } from "../../lib/fields.ts";
import { currencyField } from "../../rates/contract.ts";
import { FINDING_CODES } from "./finding.ts";

export const readinessQuery = () =>
  z.object({
    currency: currencyField()
      .default(DEFAULT_CURRENCY)
      .meta({ description: "The currency in which invoices would be priced. A coin needs a current rate in it." }),
  });

const findingBody = () =>
  z.object({
    code: z.enum(FINDING_CODES),
    detail: z.string().meta({ description: "A sentence for people; it may change." }),
    since: time().nullable(),
    until: time().nullable().meta({
      description:
        "When it ends, or, if the sources fail or refuse requests, when one is asked again. Null if unknown.",
    }),
    secondsBehind: z
      .int()
      .nullable()
      .meta({ description: "Only with SOURCE_LAGS: seconds since the time up to which everything was read." }),
    blocksBehind: z
      .int()
      .nullable()
      .meta({ description: "Only with SOURCE_LAGS: number of blocks that were not read yet." }),
  });

const readingBody = () =>
  z.object({
    isBeingRead: z
      .boolean()
      .meta({ description: "False while no payment on the network is awaited, because its source is then not asked." }),
    height: z.int().meta({ description: "Newest block that was read completely." }),
    tipHeight: z
      .int()
      .nullable()
      .meta({ description: "Newest block of the network's source, when it was last asked." }),
    secondsBehind: z.int().nullable().meta({
      description: "Seconds since the time up to which everything was read; null while the network is not being read.",
    }),
  });

const coinBody = () =>
  z.object({
    network: z.string(),
    cryptocurrency: z.string(),
    isTest: z.boolean().meta({ description: "Whether the network is a test network, whose coins are worth nothing." }),
    walletId: z.string().nullable(),
    canBePaid: z
      .boolean()
      .meta({ description: "True if there is no reason against it, either for this coin or for the whole merchant." }),
    reasons: z.array(findingBody()),
    warnings: z.array(findingBody()).meta({
      description:
        "Problems that may become reasons. NOT_YET_READ: it is not known yet whether payments on the network are seen.",
    }),
    reading: readingBody().nullable().meta({ description: "Null for a network that was never read." }),
  });

export const readinessBody = () =>
  z
    .object({
      checkedAt: time(),
      currency: z.string(),
      canBePaid: z
        .boolean()
        .meta({ description: "Whether any coin on a main network can be paid with; test networks are ignored." }),
      reasons: z
        .array(findingBody())
        .meta({ description: "Reasons that apply to every coin. They are not repeated for each coin." }),
      warnings: z.array(findingBody()),
      limits: z.object({
        activeInvoices: z.int(),
        maxActiveInvoices: z.int(),
        publicInvoices: z.int(),
        maxPublicInvoices: z.int(),
      }),
      coins: z
        .array(coinBody())
        .meta({ description: "Those with a wallet first. A test network is listed if it has a source or a wallet." }),
    })
    .meta({ title: "Readiness" });
