// The wire format of merchants as operators see them.
import * as z from "zod";
import { time } from "../../lib/fields.ts";
import { listQuery } from "../../lib/pagination.ts";
import { MOST_DUE } from "./merchant-summary.ts";

export const merchantSummaryQuery = () => {
  const { limit, cursor } = listQuery();
  return z.object({
    limit,
    cursor,
    search: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .meta({ description: "A prefix of the name in any case, or an exact id." }),
  });
};

const suspendedAt = () => time().nullable().meta({ description: "Null for a merchant that is not suspended." });

const merchantSummaryBody = () =>
  z
    .object({
      id: z.string(),
      name: z.string(),
      createdAt: time(),
      suspendedAt: suspendedAt(),
      invoices: z
        .int()
        .min(0)
        .meta({ description: "Number created in the last 24 hours, accurate to a quarter of an hour." }),
      dueDeliveries: z
        .int()
        .min(0)
        .max(MOST_DUE)
        .meta({
          description: `Due deliveries to its endpoints; ${MOST_DUE} means that there may be more.`,
        }),
    })
    .meta({ title: "MerchantSummary" });

export const merchantSummaryListBody = () =>
  z
    .object({ data: z.array(merchantSummaryBody()), nextCursor: z.string().nullable() })
    .meta({ title: "MerchantSummaryList" });

export const suspensionBody = () =>
  z.object({ id: z.string(), suspendedAt: suspendedAt() }).meta({ title: "Suspension" });
