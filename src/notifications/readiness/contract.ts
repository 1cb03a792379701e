// The wire format of whether a merchant can be paid now.
import * as z from "zod";
import { DEFAULT_CURRENCY } from "../../commerce/invoices/product-terms.ts";
import { time } from "../../lib/fields.ts";
import { currencyField } from "../../rates/contract.ts";
import { FINDING_CODES } from "./finding.ts";

export const readinessQuery = () =>
  z.object({
    currency: currencyField()
      .default(DEFAULT_CURRENCY)
      .meta({ description: "The currency of the prices that invoices would have. A coin needs a current rate in it." }),
  });

const findingBody = () =>
  z.object({
    code: z.enum(FINDING_CODES),
    detail: z.string().meta({ description: "A sentence for people; it may change." }),
    since: time().nullable(),
    until: time()
      .nullable()
      .meta({ description: "When it ends, or of a source when one is asked again, if that is known." }),
    secondsBehind: z.int().nullable().meta({ description: "Of SOURCE_LAGS: seconds up to which all was read." }),
    blocksBehind: z.int().nullable().meta({ description: "Of SOURCE_LAGS: blocks that were not read yet." }),
  });

const readingBody = () =>
  z.object({
    isBeingRead: z
      .boolean()
      .meta({ description: "False while nothing on the network is awaited: then its source is not asked." }),
    height: z.int().meta({ description: "Newest block that was read completely." }),
    tipHeight: z.int().nullable().meta({ description: "Newest block of the network's source, when last asked." }),
    secondsBehind: z.int().nullable().meta({ description: "Seconds since the time up to which everything was read." }),
  });

const coinBody = () =>
  z.object({
    network: z.string(),
    cryptocurrency: z.string(),
    isTest: z.boolean().meta({ description: "Whether the network is a test network, whose coins are worth nothing." }),
    walletId: z.string().nullable(),
    canBePaid: z
      .boolean()
      .meta({ description: "Whether there is no reason against it, neither here nor of the whole merchant." }),
    reasons: z.array(findingBody()),
    warnings: z
      .array(findingBody())
      .meta({ description: "What may become a reason; NOT_YET_READ: whether its payments are seen is not known yet." }),
    reading: readingBody().nullable().meta({ description: "Null for a network that was never read." }),
  });

export const readinessBody = () =>
  z
    .object({
      checkedAt: time(),
      currency: z.string(),
      canBePaid: z
        .boolean()
        .meta({ description: "Whether any coin of a main network can: test networks are not counted." }),
      reasons: z.array(findingBody()).meta({ description: "What stops every coin; they are not repeated at each." }),
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
