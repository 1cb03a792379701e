import type { BatchItem } from "drizzle-orm/batch";
import type { Failure } from "../failures.ts";
import { imageName } from "../images/image.ts";
import { insertImage } from "../images/store.ts";
import type { MerchantId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { ProductEffects } from "./change-product.ts";
import { fetchImage } from "./fetch-image.ts";
import { type ImageBytes, imageSource } from "./image-source.ts";

export interface AddedImage {
  /** What the product's column holds: undefined keeps, null clears. */
  readonly name: string | null | undefined;
  /** What keeps the bytes, for the batch of the product. */
  readonly statements: readonly BatchItem<"sqlite">[];
}

/**
 * The image that a request's `image` means, fetched where it is an address. `isThere`: whether the one that it names was found. Refuses
 * IMAGE_NOT_FOUND and, with a reason, IMAGE_REFUSED. Writes nothing.
 */
export async function addImage(
  fx: Pick<ProductEffects, "db" | "nowMs" | "publicUrl" | "fetch">,
  of: { readonly merchantId: MerchantId; readonly image: string | null | undefined; readonly isThere: boolean },
): Promise<Result<AddedImage, Failure>> {
  const { merchantId, image } = of;
  if (image === undefined || image === null) return ok({ name: image, statements: [] });
  const source = imageSource(image, { publicUrl: fx.publicUrl, merchantId });
  if (!source.ok) return err({ code: "IMAGE_REFUSED", reason: source.error });
  switch (source.value.kind) {
    case "named":
      return of.isThere ? ok({ name: source.value.name, statements: [] }) : err({ code: "IMAGE_NOT_FOUND" });
    case "given":
      return ok(kept(fx, merchantId, source.value));
    case "remote": {
      const fetched = await fetchImage(fx.fetch, source.value.url);
      return fetched.ok
        ? ok(kept(fx, merchantId, fetched.value))
        : err({ code: "IMAGE_REFUSED", reason: fetched.error });
    }
  }
}

function kept(fx: Pick<ProductEffects, "db" | "nowMs">, merchantId: MerchantId, image: ImageBytes): AddedImage {
  const { contentType, bytes } = image;
  return {
    name: imageName(bytes),
    statements: [insertImage(fx.db, { merchantId, contentType, bytes }, fx.nowMs)],
  };
}
