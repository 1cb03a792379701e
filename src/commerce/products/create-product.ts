import { type Acting, actingSeat, seatHeld } from "../../accounts/teams/check-seat.ts";
import { derivedId, type MerchantId, makeId } from "../../lib/ids.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import { type AddedImage, addImage } from "./add-image.ts";
import type { ProductDependencies } from "./change-product.ts";
import { type Product, productFacts } from "./product.ts";
import { productBodyOf } from "./product-body.ts";
import { insertProduct } from "./store.ts";

/** The validated request body. */
interface NewProduct extends Pick<Product, "name" | "priceMicros" | "currency" | "isActive"> {
  readonly description?: string | null | undefined;
  readonly image?: string | null | undefined;
  readonly askForName: boolean;
  readonly askForAddress: boolean;
  readonly askForPhoneNumber: boolean;
}

interface CreateProductRequest extends Acting {
  readonly merchantId: MerchantId;
  readonly trail: Trail;
  readonly wanted: NewProduct;
  /** Whether the image named in the request was found. */
  readonly isImageThere: boolean;
}

/** Creates one product, as work for `runOnce`. Fails with IMAGE_NOT_FOUND, IMAGE_REFUSED and LIMIT_REACHED. */
export function createProduct(deps: ProductDependencies, request: CreateProductRequest): Work {
  const { merchantId, trail, wanted } = request;
  let fetched: Result<AddedImage, Failure> | undefined;
  return async (operationId, conflict, tries): Promise<Prepared> => {
    throwUnlessContention("a new product", conflict);
    const seat = await actingSeat(deps, request, tries);
    if (!seat.ok) return { kind: "refused", failure: seat.error };
    fetched ??= await addImage(deps, { merchantId, image: wanted.image, isThere: request.isImageThere });
    if (!fetched.ok) return { kind: "refused", failure: fetched.error };
    const { name: image, statements, recheck } = fetched.value;
    const room = conflict === undefined ? ok(undefined) : await recheck();
    if (!room.ok) return { kind: "refused", failure: room.error };
    const product: Product = {
      ...wanted,
      id: makeId("prd", operationId),
      merchantId,
      description: wanted.description ?? null,
      image: image ?? null,
      createdAtMs: deps.nowMs,
      updatedAtMs: deps.nowMs,
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
      body: JSON.stringify(productBodyOf(product, deps.publicUrl)),
      statements: [
        ...seatHeld(deps, seat.value),
        ...statements,
        insertProduct(deps.db, product),
        insertAudit(deps.db, trail, entry, deps.nowMs),
      ],
    };
  };
}
