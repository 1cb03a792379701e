import type { Product } from "../api/operations.ts";
import { isOpen } from "../invoices/columns.tsx";
import { useFormats } from "../shell/reader.tsx";

/** The price in words; a product with price 0 leaves it to the customer. */
export function usePrice(): (product: Pick<Product, "price" | "currency">) => string {
  const { money } = useFormats();
  return ({ price, currency }) => (isOpen(price) ? "Any amount" : money(price, currency));
}
