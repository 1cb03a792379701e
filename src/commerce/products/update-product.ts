import type { Acting } from "../../accounts/teams/check-seat.ts";
import type { Result } from "../../lib/result.ts";
import { changedFacts, type Trail } from "../../platform/audit/entry.ts";
import type { Failure } from "../../platform/failures.ts";
import { addImage } from "./add-image.ts";
import { changeProduct, type ProductDependencies } from "./change-product.ts";
import { type Product, type ProductFields, productFacts, withProductFields } from "./product.ts";

/** The fields of a PATCH: an absent field is left unchanged, null clears it. */
type ProductUpdate = ProductFields & { readonly image?: string | null | undefined };

/** Updates a product. Invoices that contain it show the new state. Writes nothing if nothing changes. */
export async function updateProduct(
  deps: ProductDependencies,
  of: Acting & { readonly read: Product; readonly trail: Trail; readonly isImageThere: boolean },
  { image, ...fields }: ProductUpdate,
): Promise<Result<Product, Failure>> {
  const { merchantId } = of.read;
  const added = await addImage(deps, { merchantId, image, isThere: of.isImageThere });
  if (!added.ok) return added;
  const { name, statements, recheck } = added.value;
  const given = { ...fields, ...(name === undefined ? {} : { image: name }) };
  return changeProduct(deps, { ...of, recheck }, (read) => {
    const after = withProductFields(read, given);
    const facts = changedFacts(productFacts(read), productFacts(after));
    if (Object.keys(facts.after).length === 0) return undefined;
    return { columns: after, entry: { action: "product.updated", ...facts }, statements };
  });
}
