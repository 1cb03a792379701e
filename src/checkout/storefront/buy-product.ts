// Creates an invoice from a product's page, in the merchant's object. Anyone can send its form, just as anyone can use a public key from a browser,
// so the sender may only do what a public key may do, under the same limits (decisions 7).

import { selectLiveMerchant } from "../../accounts/merchant-records/store.ts";
import {
  type CreateDependencies,
  type CreateFacts,
  createFacts,
  createInvoice,
  createReads,
} from "../../commerce/invoices/create-invoice.ts";
import type { Product } from "../../commerce/products/product.ts";
import type { CallerNetwork } from "../../lib/ip-network.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { readTogether } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { fingerprint, keyHash } from "../../platform/idempotency/idempotency-key.ts";
import { type OnceDependencies, runOnce } from "../../platform/idempotency/run-once.ts";
import { type Asking, type Form, type Order, type Problems, tokenOf, typedFields } from "./order.ts";
import { forSale } from "./read-product-for-sale.ts";

export interface BuyDependencies extends CreateDependencies {
  /** For the idempotency protocol; its clock keeps running during the request. */
  readonly once: OnceDependencies;
  /** The order from a product's form, or its problems by field. */
  orderOf(product: Asking, form: Form): Result<Order, Problems>;
}

interface Purchase {
  readonly merchantId: string;
  readonly productId: string;
  /** With trimmed values. */
  readonly form: Form;
  /** The IP networks whose limits count this purchase. */
  readonly callers: readonly CallerNetwork[];
}

/** The new invoice, or the problems by field. */
export type Bought = { readonly invoiceId: string } | { readonly problems: Problems };

/** Returns the same invoice however often the form is sent. Fails like `forSale` and like the creation of an invoice. */
export async function buyProduct(deps: BuyDependencies, of: Purchase): Promise<Result<Bought, Failure>> {
  const { merchantId, productId, form, callers } = of;
  const reads = [
    selectLiveMerchant(deps.db, merchantId),
    ...createReads(deps.db, merchantId, { productId, customerEmail: form.email }),
  ] as const;
  const read = await readWithRetry(deps.once.sleep, async () => readTogether(deps.db, reads));
  if (!read.ok) return read;
  const [[live], ...named] = read.value;
  const facts = createFacts(named);
  const sold = forSale(facts.product ?? null, live ?? null);
  if (!sold.ok) return sold;
  const { product, merchant } = sold.value;
  const order = deps.orderOf(product, form);
  if (!order.ok) return ok({ problems: order.error });
  if (needsAmount(product, order.value, facts)) return ok({ problems: { amount: "required" } });
  const invoice = { ...order.value, productId: product.id, pairs: undefined };
  const work = createInvoice(deps, { merchant, origin: "PRODUCT_PAGE", callers, invoice, facts });
  const answer = await runOnce(deps.once, { merchantId: merchant.id, key: keyOf(product, form) }, work);
  if (answer.kind === "refused") return err(answer.failure);
  const { id } = parseJson<{ readonly id: string }>(answer.body);
  return ok({ invoiceId: id });
}

/** A payer who goes back and corrects a name wants a new invoice, not a refusal, so the typed fields are part of the key. */
function keyOf(product: Product, form: Form) {
  const token = tokenOf(form);
  if (token === undefined) return undefined;
  const print = fingerprint({ method: "POST", path: `/buy/${product.id}`, body: typedFields(product, form) });
  const hash = keyHash({ merchantId: product.merchantId, keySpace: "page", key: token + print });
  return { hash, fingerprint: print };
}

/** Whether the buyer must enter an amount: on a shared address, payments are distinguished by their amounts. */
function needsAmount(product: Product, order: Order, { wallets }: CreateFacts): boolean {
  const isAny = (order.rawAmount ?? product.priceMicros) === 0n;
  return isAny && wallets.length > 0 && wallets.every(({ xpub }) => xpub === null);
}
