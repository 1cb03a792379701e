import type { Customer } from "../api/operations.ts";

/** A customer's display name; an erased customer has only an id. */
export function customerName({ name, email, id }: Pick<Customer, "name" | "email" | "id">): string {
  return name ?? email ?? id;
}
