// What product routes read together with the caller, in one storage call; every value is bound, none is trusted.
import type { Db } from "../db/client.ts";
import { selectImageName } from "../images/store.ts";
import { imageSource } from "./image-source.ts";
import { selectLiveProduct } from "./store.ts";

/** One live product; a malformed id finds none, like an unknown one. */
export function productReads(db: Db, merchantId: string, productId: string | undefined) {
  return [selectLiveProduct(db, merchantId, productId ?? "")] as const;
}

/** Whether an image that a request names is there; images are never taken away, so what was read holds. */
export function imageReads(
  db: Db,
  ours: { readonly publicUrl: string; readonly merchantId: string },
  image: string | null | undefined,
) {
  const source = typeof image === "string" ? imageSource(image, ours) : undefined;
  const name = source?.ok && source.value.kind === "named" ? source.value.name : undefined;
  return [selectImageName(db, { merchantId: ours.merchantId, name })] as const;
}
