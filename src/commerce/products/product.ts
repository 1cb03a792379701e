// A product that a merchant sells (decisions 10). The table has exactly these columns.

import type { MerchantId, ProductId } from "../../lib/ids.ts";
import { formatMicros } from "../../lib/money.ts";
import type { AuditFacts } from "../../platform/audit/entry.ts";

export interface Product {
  readonly id: ProductId;
  readonly merchantId: MerchantId;
  readonly name: string;
  readonly description: string | null;
  /** 0: the customer chooses the amount. */
  readonly priceMicros: bigint;
  readonly currency: string;
  /** The name of one of the merchant's uploaded images. */
  readonly image: string | null;
  readonly isActive: boolean;
  readonly askForName: boolean;
  readonly askForAddress: boolean;
  readonly askForPhoneNumber: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly deletedAtMs: number | null;
}

/** The product fields in a request. An absent field is left unchanged, or gets its default in a new product. */
export type ProductFields = {
  readonly [K in
    | "name"
    | "description"
    | "priceMicros"
    | "currency"
    | "isActive"
    | "askForName"
    | "askForAddress"
    | "askForPhoneNumber"]?: Product[K] | undefined;
};

export function withProductFields(product: Product, fields: ProductFields & Pick<Partial<Product>, "image">): Product {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return { ...product, ...given };
}

/** A product for the audit log, with the field names of the API. */
export function productFacts(product: Product): AuditFacts {
  const { name, description, priceMicros, currency, image, isActive } = product;
  const { askForName, askForAddress, askForPhoneNumber } = product;
  const price = formatMicros(priceMicros);
  return { name, description, price, currency, image, isActive, askForName, askForAddress, askForPhoneNumber };
}

/** A public key sees only active products: an inactive one is not found (decisions 7). */
export function isShownTo(product: Product, isPublicKey: boolean): boolean {
  return product.deletedAtMs === null && (product.isActive || !isPublicKey);
}
