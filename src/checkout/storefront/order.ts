// The fields of a product's form, and the resulting order.
import type { Product } from "../../commerce/products/product.ts";
import type { AmbiguousAmount } from "../../lib/typed-amount.ts";

export type FieldName = "amount" | "name" | "email" | "address" | "phone";
export type Problem = "required" | "email" | "amount" | "long" | AmbiguousAmount;
export type Problems = Readonly<Partial<Record<FieldName, Problem>>>;

/** The fields that were sent, including those that the product does not ask for. */
export type Form = { readonly [Name in FieldName | "token"]?: string | undefined };

/** The payer's data for the invoice. */
export interface Order {
  readonly customerEmail?: string | undefined;
  readonly customerName?: string | undefined;
  readonly customerAddress?: string | undefined;
  readonly customerPhoneNumber?: string | undefined;
  /** Micro-units; absent if the product has a price, or the buyer entered no amount. */
  readonly rawAmount?: bigint | undefined;
}

export type Asking = Pick<Product, "askForName" | "askForAddress" | "askForPhoneNumber" | "priceMicros" | "currency">;

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

/** The form's token; undefined if it is not one of ours. */
export function tokenOf({ token }: Form): string | undefined {
  return token !== undefined && /^[0-9a-f-]{36}$/.test(token) ? token : undefined;
}

/** The trimmed input of the fields that the product asks for; ignores other fields. */
export function typedFields(product: Asking, form: Form): Readonly<Partial<Record<FieldName, string>>> {
  const filled = askedFields(product).map(({ name }) => [name, (form[name] ?? "").trim()] as const);
  return Object.fromEntries(filled.filter(([, text]) => text !== ""));
}
