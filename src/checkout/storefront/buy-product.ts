// Creates an invoice from a product's page. Anyone can send its form, as anyone can use a public key from a browser, so the sender may only do
// what a public key may do, under the same limits (decisions 7).

import {
  type CreateDependencies,
  type CreateFacts,
  createFacts,
  createInvoice,
  createReads,
} from "../../commerce/invoices/create-invoice.ts";
import type { MerchantId } from "../../lib/ids.ts";
import type { CallerNetwork } from "../../lib/ip-network.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { type Json, parseJson } from "../../lib/typed-json.ts";
import { batch } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { fingerprint, keyHash } from "../../platform/idempotency/idempotency-key.ts";
import type { Keys } from "../../platform/idempotency/key-reservations.ts";
import { runOnce } from "../../platform/idempotency/run-once.ts";
import type { Order } from "./order.ts";
import type { ForSale } from "./read-product-for-sale.ts";

export interface BuyDependencies extends CreateDependencies {
  readonly sleep: Sleep;
  newOperationId(): string;
  clock(): number;
  keysOf(merchantId: MerchantId): Keys;
  background(work: Promise<unknown>): void;
}

export interface Purchase extends ForSale {
  readonly order: Order;
  /** The token of the sent form; undefined if it is not one of ours. */
  readonly token: string | undefined;
  /** The typed fields: with the token they identify the invoice to create. */
  readonly typed: Json;
  /** The networks under which the sender is counted. */
  readonly callers: readonly CallerNetwork[];
}

/**
 * Returns the invoice's id, the same one however often a form is sent. Refuses what invoice creation refuses, and ANY_AMOUNT_NEEDS_OWN_ADDRESS
 * if the payer gives no amount but only shared addresses are available.
 */
export async function buyProduct(deps: BuyDependencies, of: Purchase): Promise<Result<string, Failure>> {
  const { product, merchant, order, token, typed, callers } = of;
  const invoice = { ...order, productId: product.id, pairs: undefined };
  const reads = createReads(deps.db, merchant.id, invoice);
  const read = await readWithRetry(deps.sleep, () => batch(deps.db, reads));
  if (!read.ok) return read;
  const facts = createFacts(read.value);
  if (needsAmount({ product, order, facts })) return err({ code: "ANY_AMOUNT_NEEDS_OWN_ADDRESS" });
  const print = fingerprint({ method: "POST", path: `/buy/${product.id}`, body: typed });
  // A payer who goes back and corrects a name wants another invoice, not a refusal, so the typed fields are part of the key.
  const key =
    token === undefined
      ? undefined
      : { hash: keyHash({ merchantId: merchant.id, keySpace: "page", key: token + print }), fingerprint: print };
  const work = createInvoice(deps, {
    merchant,
    origin: "PRODUCT_PAGE",
    callers,
    invoice,
    facts,
  });
  const once = { ...deps, keys: deps.keysOf(merchant.id), nowMs: () => deps.clock() };
  const answer = await runOnce(once, { merchantId: merchant.id, key }, work);
  if (answer.kind === "refused") return err(answer.failure);
  const { id } = parseJson<{ readonly id: string }>(answer.body);
  return ok(id);
}

/** On a shared address, payments are distinguished by their amounts. */
function needsAmount({ product, order, facts }: Pick<Purchase, "product" | "order"> & { facts: CreateFacts }): boolean {
  const isAny = (order.rawAmount ?? product.priceMicros) === 0n;
  return isAny && facts.wallets.length > 0 && facts.wallets.every(({ xpub }) => xpub === null);
}
