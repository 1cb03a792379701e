import { imageUrl } from "../../accounts/images/image.ts";
import { formatMicros } from "../../lib/money.ts";
import { isoTime } from "../../lib/time.ts";
import type { Product } from "./product.ts";

/** A product as responses show it (decisions 10); `publicUrl` is our own origin, without a trailing slash. */
export function productBodyOf(product: Product, publicUrl: string) {
  const { id, merchantId } = product;
  const image = product.image === null ? null : imageUrl(publicUrl, { merchantId, name: product.image });
  return {
    id,
    merchantId,
    name: product.name,
    description: product.description,
    price: formatMicros(product.priceMicros),
    currency: product.currency,
    image,
    signedImage: image,
    isActive: product.isActive,
    askForName: product.askForName,
    askForAddress: product.askForAddress,
    askForPhoneNumber: product.askForPhoneNumber,
    createdAt: isoTime(product.createdAtMs),
    updatedAt: isoTime(product.updatedAtMs),
    deletedAt: product.deletedAtMs === null ? null : isoTime(product.deletedAtMs),
    checkoutUrl: `${publicUrl}/buy/${id}`,
  };
}
