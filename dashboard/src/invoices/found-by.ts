import type { SearchResults } from "../api/operations.ts";

/** How a search found an invoice, as the words after "found". */
export const FOUND_BY: Readonly<Record<NonNullable<SearchResults["invoices"]>[number]["matchedBy"], string>> = {
  ID: "by its ID",
  EXTERNAL_ID: "by its order number",
  TRANSACTION: "by a transaction that pays it",
  ADDRESS: "by its address",
  EMAIL: "by its customer's email",
  NAME: "by its name",
  CUSTOMER_NAME: "by its customer's name",
  AMOUNT: "by its amount",
};
