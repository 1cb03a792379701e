import { Badge } from "@mantine/core";
import type { Product } from "../api/operations.ts";

export function ProductState({ product: { isActive } }: { readonly product: Product }) {
  return isActive ? <Badge color="green">For sale</Badge> : <Badge color="gray">Not for sale</Badge>;
}
