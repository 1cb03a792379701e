import type { Product } from "../api/operations.ts";
import { isOpen } from "../invoices/columns.tsx";
import { useFormats } from "../shell/reader.tsx";

/** The price as text. If it is 0, the customer chooses the amount. */
export function usePrice(): (product: Pick<Product, "price" | "currency">) => string {
  const { money } = useFormats();
  return ({ price, currency }) => (isOpen(price) ? "Any amount" : money(price, currency));
}
