// An invoice from a product's page. Whoever sends its form is who holds a public key in a browser: anybody. So what a public key may not do,
// they may not, and what bounds it bounds them (decisions 7).
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import type { Keys } from "../idempotency/claims.ts";
import { fingerprint, keyHash } from "../idempotency/idempotency-key.ts";
import { runOnce } from "../idempotency/run-once.ts";
import {
  type CreateEffects,
  type CreateFacts,
  createFacts,
  createInvoice,
  createReads,
} from "../invoices/create-invoice.ts";
import type { Json } from "../lib/canonical-json.ts";
import type { MerchantId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { Order } from "./order.ts";
import type { ForSale } from "./read-product-for-sale.ts";

export interface BuyEffects extends CreateEffects {
  readonly sleep: Sleep;
  newOperationId(): string;
  clock(): number;
  keysOf(merchantId: MerchantId): Keys;
  background(work: Promise<unknown>): void;
}

export interface Purchase extends ForSale {
  readonly order: Order;
  /** Of the rendering that was sent; undefined for none that is ours. */
  readonly token: string | undefined;
  /** What was typed: with the token it says which invoice this makes. */
  readonly typed: Json;
}

/**
 * The invoice's id, the same one however often a form is sent. Refuses what a create refuses, and ANY_AMOUNT_NEEDS_OWN_ADDRESS where the payer
 * names no amount and could pay none without.
 */
export async function buyProduct(fx: BuyEffects, of: Purchase): Promise<Result<string, Failure>> {
  const { product, merchant, order, token, typed } = of;
  const invoice = { ...order, productId: product.id, pairs: undefined };
  const reads = createReads(fx.db, merchant.id, { ...invoice, prices: "{}" });
  const read = await readWithRetry(fx.sleep, () => fx.db.batch(reads));
  if (!read.ok) return read;
  const facts = createFacts(read.value);
  if (needsAmount({ product, order, facts })) return err({ code: "ANY_AMOUNT_NEEDS_OWN_ADDRESS" });
  const print = fingerprint({ method: "POST", path: `/buy/${product.id}`, body: typed });
  // Who goes back and corrects a name wants another invoice, not a refusal: what was typed is part of the key.
  const key =
    token === undefined
      ? undefined
      : { hash: keyHash({ merchantId: merchant.id, keySpace: "page", key: token + print }), fingerprint: print };
  const work = createInvoice(fx, {
    merchant,
    isFromPublicKey: true,
    isFromProductPage: true,
    invoice,
    facts,
  });
  const once = { ...fx, keys: fx.keysOf(merchant.id), nowMs: () => fx.clock() };
  const answer = await runOnce(once, { merchantId: merchant.id, key }, work);
  if (answer.kind === "refused") return err(answer.failure);
  const { id }: { readonly id: string } = JSON.parse(answer.body);
  return ok(id);
}

/** A shared address tells payments apart by their amounts. */
function needsAmount({ product, order, facts }: Pick<Purchase, "product" | "order"> & { facts: CreateFacts }): boolean {
  const isAny = (order.rawAmount ?? product.priceMicros) === 0n;
  return isAny && facts.wallets.length > 0 && facts.wallets.every(({ xpub }) => xpub === null);
}
