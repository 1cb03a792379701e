// The fields of a product's form, and the order that they make.
import type { Product } from "../../commerce/products/product.ts";

export type FieldName = "amount" | "name" | "email" | "address" | "phone";
export type Problem = "required" | "email" | "amount" | "long";
export type Problems = Readonly<Partial<Record<FieldName, Problem>>>;

/** The payer's data for the invoice. */
export interface Order {
  readonly customerEmail?: string | undefined;
  readonly customerName?: string | undefined;
  readonly customerAddress?: string | undefined;
  readonly customerPhoneNumber?: string | undefined;
  /** Micro-units; absent if the product has a price. */
  readonly rawAmount?: bigint | undefined;
}

export type Asking = Pick<Product, "askForName" | "askForAddress" | "askForPhoneNumber" | "priceMicros">;

/** The fields of a product's form in their order, and whether each must be filled in. */
export function askedFields(product: Asking): readonly { readonly name: FieldName; readonly isRequired: boolean }[] {
  const all = [
    { name: "amount", isAsked: product.priceMicros === 0n, isRequired: false },
    { name: "name", isAsked: product.askForName, isRequired: true },
    { name: "email", isAsked: true, isRequired: false },
    { name: "address", isAsked: product.askForAddress, isRequired: true },
    { name: "phone", isAsked: product.askForPhoneNumber, isRequired: true },
  ] as const;
  return all.filter(({ isAsked }) => isAsked);
}
