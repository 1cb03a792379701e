import type { Customer } from "../api/operations.ts";

/** What a customer is called; an erased one has nothing but an id. */
export function customerName({ name, email, id }: Pick<Customer, "name" | "email" | "id">): string {
  return name ?? email ?? id;
}
