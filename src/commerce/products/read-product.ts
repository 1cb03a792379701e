// The rows that product routes read together with the caller, in one storage call. Every value is bound, and none is trusted.

import { selectImageName } from "../../accounts/images/store.ts";
import type { Db } from "../../platform/db/client.ts";
import { imageSource } from "./image-source.ts";
import { selectLiveProduct } from "./store.ts";

/** One live product; a malformed id matches no row, like an unknown id. */
export function productReads(db: Db, merchantId: string, productId: string | undefined) {
  return [selectLiveProduct(db, merchantId, productId ?? "")] as const;
}

/** Whether the image named in a request exists; the batch that stores the name asserts it again. */
export function imageReads(
  db: Db,
  ours: { readonly publicUrl: string; readonly merchantId: string },
  image: string | null | undefined,
) {
  const source = typeof image === "string" ? imageSource(image, ours) : undefined;
  const name = source?.ok && source.value.kind === "named" ? source.value.name : undefined;
  return [selectImageName(db, { merchantId: ours.merchantId, name })] as const;
}
