import type { InvoiceOrigin } from "../../platform/column-values.ts";
/** Whether anybody could have made it: then it is bounded apart from what the merchant's own server makes. */
export function isPublicOrigin(origin: InvoiceOrigin): boolean {
  return origin !== "API";
}
