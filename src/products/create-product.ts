import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Failure } from "../failures.ts";
import type { Prepared, Work } from "../idempotency/run-once.ts";
import { derivedId, type MerchantId, makeId } from "../lib/ids.ts";
import type { Result } from "../lib/result.ts";
import { type AddedImage, addImage } from "./add-image.ts";
import type { ProductEffects } from "./change-product.ts";
import { type Product, productFacts } from "./product.ts";
import { productBodyOf } from "./product-body.ts";
import { insertProduct } from "./store.ts";

/** A valid request: the contract's body. */
export interface NewProduct extends Pick<Product, "name" | "priceMicros" | "currency" | "isActive"> {
  readonly description?: string | null | undefined;
  readonly image?: string | null | undefined;
  readonly askForName: boolean;
  readonly askForAddress: boolean;
  readonly askForPhoneNumber: boolean;
}

export interface CreateProductRequest {
  readonly merchantId: MerchantId;
  readonly trail: Trail;
  readonly wanted: NewProduct;
  /** Whether the image that the request names was found. */
  readonly isImageThere: boolean;
}

/** The work of one creation, for `runOnce`. Refuses IMAGE_NOT_FOUND and IMAGE_REFUSED. */
export function createProduct(fx: ProductEffects, request: CreateProductRequest): Work {
  const { merchantId, trail, wanted } = request;
  let fetched: Result<AddedImage, Failure> | undefined;
  return async (operationId, conflict): Promise<Prepared> => {
    if (conflict !== undefined) throw new Error(`the creation of a product met ${conflict.kind}`);
    fetched ??= await addImage(fx, { merchantId, image: wanted.image, isThere: request.isImageThere });
    if (!fetched.ok) return { kind: "refused", failure: fetched.error };
    const { name: image, statements } = fetched.value;
    const product: Product = {
      ...wanted,
      id: makeId("prd", operationId),
      merchantId,
      description: wanted.description ?? null,
      image: image ?? null,
      createdAtMs: fx.nowMs,
      updatedAtMs: fx.nowMs,
      deletedAtMs: null,
    };
    const entry = {
      id: derivedId("aud", operationId),
      merchantId,
      action: "product.created",
      target: product.id,
      after: productFacts(product),
    } as const;
    return {
      kind: "ready",
      status: 201,
      body: JSON.stringify(productBodyOf(product, fx.publicUrl)),
      statements: [...statements, insertProduct(fx.db, product), insertAudit(fx.db, trail, entry, fx.nowMs)],
    };
  };
}
