// An invoice's body with the recommended decision, for the merchant only. Lists and events omit the recommendation, because it becomes outdated.
import { parseJson } from "../../lib/typed-json.ts";
import { watchesOf } from "../cursors/cursor.ts";
import type { InvoiceFile } from "../invoice-records/invoice.ts";
import { recommendationBodyOf } from "../payments/recommendation.ts";
import { type InvoiceAdviceFacts, recommendForInvoice } from "../settlement/recommend-for-invoice.ts";
import { type BodyContext, invoiceBodyOf } from "./invoice-body.ts";

/** Omits `recommendation` if nothing is recommended. */
export function advisedBodyOf(file: InvoiceFile, context: BodyContext) {
  const body = invoiceBodyOf(file, context);
  const advice = recommendForInvoice(adviceFacts(file, context.nowMs));
  return advice === null ? body : { ...body, recommendation: recommendationBodyOf(advice) };
}

function adviceFacts({ invoice, payments, methods, cursors }: InvoiceFile, nowMs: number): InvoiceAdviceFacts {
  const active = methods.filter(({ status, address }) => status === "ACTIVE" && address !== null);
  const networks = active.map(({ network }) => network);
  return {
    invoice,
    payments,
    hasWay: active.length > 0,
    isReadToEnd: watchesOf(networks, cursors).every(
      (watch) => watch.kind === "none" || watch.passedMs > invoice.expiresAtMs,
    ),
    isRestored: parseJson(invoice.warnings).includes("RESTORED"),
    nowMs,
  };
}
