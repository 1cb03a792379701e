import { checkImage } from "../../accounts/images/check-image.ts";
import { imageName } from "../../accounts/images/image.ts";
import { assertImage, insertImage } from "../../accounts/images/store.ts";
import type { MerchantId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Statement } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import type { ProductDependencies } from "./change-product.ts";
import { fetchImage } from "./fetch-image.ts";
import { type ImageBytes, imageSource } from "./image-source.ts";

export interface AddedImage {
  /** The value for the product's image column: undefined leaves it unchanged, null clears it. */
  readonly name: string | null | undefined;
  /** Statements that store the image, or assert that the named image exists; part of the product's batch. */
  readonly statements: readonly Statement[];
  /** After an aborted batch: fails with IMAGE_NOT_FOUND or LIMIT_REACHED if the image is the cause. */
  readonly recheck: () => Promise<Result<undefined, Failure>>;
}

/**
 * Resolves the `image` in a request; an image at a URL is fetched. `isThere`: whether the named image was found. Fails with IMAGE_NOT_FOUND or, with
 * a reason, IMAGE_REFUSED. Writes nothing.
 */
export async function addImage(
  deps: Pick<ProductDependencies, "db" | "nowMs" | "sleep" | "publicUrl" | "fetch" | "resolve">,
  of: { readonly merchantId: MerchantId; readonly image: string | null | undefined; readonly isThere: boolean },
): Promise<Result<AddedImage, Failure>> {
  const { merchantId, image } = of;
  if (image === undefined || image === null)
    return ok({ name: image, statements: [], recheck: async () => ok(undefined) });
  const source = imageSource(image, { publicUrl: deps.publicUrl, merchantId });
  if (!source.ok) return err({ code: "IMAGE_REFUSED", reason: source.error });
  switch (source.value.kind) {
    case "named":
      return of.isThere ? ok(named(deps, { merchantId, name: source.value.name })) : err({ code: "IMAGE_NOT_FOUND" });
    case "given":
      return ok(kept(deps, merchantId, source.value));
    case "remote": {
      const { url } = source.value;
      // The same check as for a webhook: a public name may resolve to an address in a private network.
      const resolution = await deps.resolve(new URL(url).hostname);
      if (resolution.kind !== "public") return err({ code: "IMAGE_REFUSED", reason: resolution.why });
      const fetched = await fetchImage(deps.fetch, url);
      return fetched.ok
        ? ok(kept(deps, merchantId, fetched.value))
        : err({ code: "IMAGE_REFUSED", reason: fetched.error });
    }
  }
}

type StoreDependencies = Pick<ProductDependencies, "db" | "nowMs" | "sleep">;

function named(deps: StoreDependencies, image: { readonly merchantId: MerchantId; readonly name: string }): AddedImage {
  const recheck = () => checkImage(deps, { ...image, size: undefined });
  return { name: image.name, statements: [assertImage(deps.db, image)], recheck };
}

function kept(deps: StoreDependencies, merchantId: MerchantId, image: ImageBytes): AddedImage {
  const { contentType, bytes } = image;
  const name = imageName(bytes);
  return {
    name,
    statements: insertImage(deps.db, { merchantId, contentType, bytes }, deps.nowMs),
    recheck: () => checkImage(deps, { merchantId, name, size: bytes.length }),
  };
}
