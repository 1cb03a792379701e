// What scenarios on real chains share: a shop with a server of its own, and waiting for what becomes of its invoices. Each file starts its
// shop and its nodes in `beforeAll` and ends them in `afterAll`:
//
//   shop = await startShop({ sources: { ETH: [{ kind: "evm-rpc", url: chain.url }] }, pollSeconds: POLL_SECONDS });
import { expect } from "vitest";
import {
  type Invoice,
  type Pair,
  type Payment,
  type PaymentMethod,
  type Shop,
  type ShopOptions,
  type Sources,
  startShop,
} from "../../scripts/demo-story/shop.ts";
import { until } from "../../scripts/demo-story/until.ts";

export type { Invoice, Pair, Payment, PaymentMethod, Shop, ShopOptions, Sources };
export { startShop, until };

/** Often enough that a scenario takes seconds, and not so often that passes overlap on two cores. */
export const POLL_SECONDS = 0.25;
/** A pass, and what a busy machine adds. */
export const SEEN_WITHIN_MS = 15_000;

/** Reads the invoice until `isIt` holds. */
export async function untilInvoice(
  shop: Shop,
  id: string,
  isIt: (invoice: Invoice) => boolean,
  boundMs = SEEN_WITHIN_MS,
): Promise<Invoice> {
  return until(() => shop.invoice(id), isIt, boundMs);
}

/** Reads the invoice until it has this status. */
export async function untilStatus(shop: Shop, id: string, status: Invoice["status"]): Promise<Invoice> {
  return untilInvoice(shop, id, (invoice) => invoice.status === status);
}

/** Reads the merchant's payments of this transaction until there is one, and `isIt` holds for all. */
export async function untilPayments(
  shop: Shop,
  txHash: string,
  isIt: (payment: Payment) => boolean = () => true,
): Promise<readonly Payment[]> {
  return until(
    () => shop.payments(`txHash=${txHash}`),
    (payments) => payments.length > 0 && payments.every(isIt),
    SEEN_WITHIN_MS,
  );
}

/** Every status that the invoice went through, in order. */
export function pathOf(invoice: Invoice): readonly string[] {
  return invoice.invoiceTimeline.map(({ paymentStatus }) => paymentStatus);
}

/** The method that the customer was shown for a pair, which must be active and say where and how much. */
export function shownTo(
  invoice: Invoice,
  pair: Pair,
): PaymentMethod & { readonly address: string; readonly amount: string } {
  const method = invoice.paymentMethods.find(
    (each) => each.cryptocurrency === pair.cryptocurrency && each.network === pair.network,
  );
  const { address, amount } = method ?? {};
  expect(method, JSON.stringify(invoice.paymentMethods)).toMatchObject({ status: "ACTIVE" });
  if (method === undefined || address == null || amount == null) throw new Error("the method shows nothing to pay");
  return { ...method, address, amount };
}
