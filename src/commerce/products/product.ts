// What a merchant sells (decisions 10), as rules see it. The table holds exactly these members.

import type { MerchantId, ProductId } from "../../lib/ids.ts";
import { formatMicros } from "../../lib/money.ts";
import type { AuditFacts } from "../../platform/audit/entry.ts";

export interface Product {
  readonly id: ProductId;
  readonly merchantId: MerchantId;
  readonly name: string;
  readonly description: string | null;
  /** 0 asks for any amount. */
  readonly priceMicros: bigint;
  readonly currency: string;
  /** Name of an image of the merchant's. */
  readonly image: string | null;
  readonly isActive: boolean;
  readonly askForName: boolean;
  readonly askForAddress: boolean;
  readonly askForPhoneNumber: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly deletedAtMs: number | null;
}

/** What a request says of a product; absent members keep, or take their default. */
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

/** The product with the given members taken over. */
export function withProductFields(product: Product, fields: ProductFields & Pick<Partial<Product>, "image">): Product {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return { ...product, ...given };
}

/** A product by its names on the wire, for the audit log. */
export function productFacts(product: Product): AuditFacts {
  const { name, description, priceMicros, currency, image, isActive } = product;
  const { askForName, askForAddress, askForPhoneNumber } = product;
  const price = formatMicros(priceMicros);
  return { name, description, price, currency, image, isActive, askForName, askForAddress, askForPhoneNumber };
}

/** A public key sees what is for sale: an inactive product is to it as one that is not there (decisions 7). */
export function isShownTo(product: Product, isPublicKey: boolean): boolean {
  return product.deletedAtMs === null && (product.isActive || !isPublicKey);
}
