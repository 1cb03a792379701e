// The response to a repeated Idempotency-Key whose invoice was recovered after a restore of the database (commerce/restores). The first response is
// lost, so the invoice is returned in its current state.
import type { MerchantRow } from "../../accounts/merchant-records/store.ts";
import { makeId } from "../../lib/ids.ts";
import type { InvoiceOrigin } from "../../platform/column-values.ts";
import type { Prepared } from "../../platform/idempotency/run-once.ts";
import { isPublicOrigin } from "../invoice-records/invoice.ts";
import { type ChangeDependencies, readFile } from "./change-invoice.ts";
import { invoiceBodyOf, publicInvoiceBody } from "./invoice-body.ts";

export async function answerRestored(
  deps: Pick<ChangeDependencies, "db" | "sleep" | "body">,
  of: { readonly merchant: Pick<MerchantRow, "id">; readonly origin: InvoiceOrigin; readonly operationId: string },
): Promise<Prepared> {
  const file = await readFile(deps, of.merchant.id, makeId("inv", of.operationId));
  if (!file.ok) return { kind: "refused", failure: file.error };
  const body = invoiceBodyOf(file.value, deps.body);
  const answer = isPublicOrigin(of.origin) ? publicInvoiceBody(body) : body;
  return { kind: "ready", status: 201, body: JSON.stringify(answer), statements: [] };
}
