// How many invoices may be active at once (docs/limits.md). Public invoices, which anyone can create, have a separate budget, so that they do not
// use up the limit of the merchant's server. Each limit is checked before the work, and asserted in the batch that inserts the invoice.
import { assertServerRoom, type MerchantRow } from "../../accounts/merchant-records/store.ts";
import type { CallerNetwork } from "../../lib/ip-network.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { InvoiceOrigin } from "../../platform/column-values.ts";
import { readFurther } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Statement } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Invoice } from "../invoice-records/invoice.ts";
import { isPublicOrigin } from "../invoice-records/invoice.ts";
import type { MacKeys } from "../wallet-records/row-mac.ts";
import { publicNetworks } from "./public-network.ts";
import { assertBudget, selectRoom, takeHold } from "./store.ts";

interface RoomDependencies {
  readonly db: Db;
  readonly macKeys: MacKeys;
}

type Made = Pick<Invoice, "id" | "merchantId" | "origin">;

/** Why the merchant's own server may create no more invoices; undefined if it may, or if the invoice is public. */
export function serverRoomRefusal(
  { activeInvoices, maxActiveInvoices: limit }: Pick<MerchantRow, "activeInvoices" | "maxActiveInvoices">,
  origin: InvoiceOrigin,
): Failure | undefined {
  if (isPublicOrigin(origin) || activeInvoices < limit) return undefined;
  return { code: "TOO_MANY_ACTIVE_INVOICES", limit };
}

/** LIMIT_REACHED if these callers may create no further active public invoice; undefined if they may, or if the invoice is not public. */
export async function roomRefusal(
  { db, macKeys }: RoomDependencies,
  { id: invoiceId, merchantId, origin }: Made,
  callers: readonly CallerNetwork[],
): Promise<Failure | undefined> {
  if (!isPublicOrigin(origin)) return undefined;
  const networks = publicNetworks(macKeys, merchantId, callers);
  const [found] = await readFurther(db, selectRoom(db, { merchantId, invoiceId }, networks));
  if (found === undefined) return { code: "MERCHANT_NOT_FOUND" };
  for (const [n, { times }] of networks.entries()) {
    const limit = maxFor(times);
    if ((found.held[n] ?? 0) >= limit) return { code: "LIMIT_REACHED", name: "publicInvoicesPerIp", limit };
  }
  const { publicInvoices, maxPublicInvoices: limit } = found;
  return publicInvoices < limit ? undefined : { code: "LIMIT_REACHED", name: "maxPublicInvoices", limit };
}

/** The statements that assert the limits. They must come after the invoice's insert, so that it is counted. */
export function takeRoom(
  { db, macKeys }: RoomDependencies,
  { id: invoiceId, merchantId, origin }: Made,
  callers: readonly CallerNetwork[],
): readonly Statement[] {
  if (!isPublicOrigin(origin)) return [assertServerRoom(db, merchantId)];
  const of = { merchantId, invoiceId, kind: "INVOICE", pair: "" } as const;
  return [
    assertBudget(db, merchantId),
    ...publicNetworks(macKeys, merchantId, callers).flatMap((network) =>
      takeHold(db, of, { ...network, max: maxFor(network.times) }),
    ),
  ];
}

function maxFor(times: number): number {
  return LIMITS.publicInvoicesPerIp * times;
}
