import type * as z from "zod";
import { type MountedRoute, routesOf } from "../../accounts/pipeline/routes-of.ts";
import type { Position } from "../../lib/pagination.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { textStream } from "../../lib/text-stream.ts";
import { isoTime } from "../../lib/time.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Reply } from "../../platform/http/reply.ts";
import type { RouteAnswer } from "../../platform/http/route.ts";
import type { Period } from "../reports/calendar.ts";
import {
  exportedInvoiceBody,
  exportedPaymentBody,
  exportInvoicesQuery,
  exportPaymentsQuery,
  statementLineBody,
  statementQuery,
} from "./contract.ts";
import { exportDependencies } from "./dependencies.ts";
import { type ExportDependencies, exportInvoices, exportPayments, haveChanged } from "./export-rows.ts";
import { INVOICE_COLUMNS, invoiceLineOf } from "./invoice-line.ts";
import { EXPORT_FORMATS, type ExportFormat, headOf, type Line, textOf } from "./line-format.ts";
import { type ExportedPayment, PAYMENT_COLUMNS, paymentLineOf } from "./payment-line.ts";
import { placeReads } from "./read-place.ts";
import { STATEMENT_COLUMNS, type Sums, statementLineOf, sumsWith, totalLines } from "./statement.ts";

const BASE = "/api/v1/merchants/merchant/:merchantId/reports";
const AS_CSV = "CSV, for spreadsheets, begins with the column names; the JSON lines export has the same contents.";
const WHOLE =
  "The response is streamed, in the order in which the rows were recorded. If it breaks off, for example after 15 minutes, it is incomplete: continue with `asOf` and with `after`, the id of the last complete line.";

const group = { tag: "Reports", callers: "MEMBER_OR_KEY", dependencies: exportDependencies } as const;

export const exportRoutes: readonly MountedRoute[] = EXPORT_FORMATS.flatMap((format) => [
  ...paymentRoutes(format),
  ...invoiceRoutes(format),
  ...statementRoutes(format),
]);

function suffixOf(format: ExportFormat): string {
  return format === "csv" ? "Csv" : "";
}

function aboutOf(format: ExportFormat): string {
  return format === "csv" ? `${WHOLE} ${AS_CSV}` : WHOLE;
}

function answersOf(format: ExportFormat, description: string, lineSchema: () => z.ZodType): readonly RouteAnswer[] {
  if (format === "csv") return [{ status: 200, description, alsoAs: "text/csv" }];
  return [{ status: 200, description: `${description}, one per line`, lineSchema }];
}

function paymentRoutes(format: ExportFormat) {
  return routesOf(group).get(`${BASE}/payments.${format}`, {
    operationId: `exportPayments${suffixOf(format)}`,
    summary: "Export payments",
    description: `All payments of a range of days, with their value and rate at receipt. ${aboutOf(format)}`,
    permission: "payment:view",
    query: exportPaymentsQuery,
    answers: answersOf(format, "The payments", exportedPaymentBody),
    reads: ({ db, merchantId, request }) => placeReads(db, merchantId, "payments", request?.query.after),
    answer: async (call) => {
      const range = await rangeOf(call);
      if (!range.ok) return range;
      const pages = await exportPayments(call.deps, call.merchant.id, { ...range.value, isCounted: false });
      if (!pages.ok) return pages;
      const lines = linesOf(pages.value, paymentLineOf);
      return ok(exportReply({ format, name: "payments", columns: PAYMENT_COLUMNS, lines, range: range.value }));
    },
  });
}

function invoiceRoutes(format: ExportFormat) {
  return routesOf(group).get(`${BASE}/invoices.${format}`, {
    operationId: `exportInvoices${suffixOf(format)}`,
    summary: "Export invoices",
    description: `All invoices of a range of days, with their customers and transactions. ${aboutOf(format)}`,
    permission: "invoice:view",
    query: exportInvoicesQuery,
    answers: answersOf(format, "The invoices", exportedInvoiceBody),
    reads: ({ db, merchantId, request }) => placeReads(db, merchantId, "invoices", request?.query.after),
    answer: async (call) => {
      const range = await rangeOf(call);
      if (!range.ok) return range;
      const pages = await exportInvoices(call.deps, call.merchant.id, range.value);
      if (!pages.ok) return pages;
      const lines = linesOf(pages.value, invoiceLineOf);
      return ok(exportReply({ format, name: "invoices", columns: INVOICE_COLUMNS, lines, range: range.value }));
    },
  });
}

function statementRoutes(format: ExportFormat) {
  return routesOf(group).get(`${BASE}/statement.${format}`, {
    operationId: `exportStatement${suffixOf(format)}`,
    summary: "Export the statement of a month",
    description: `The payments that the month's totals include, with their value and rate at receipt, followed by their sums by coin and by currency. ${aboutOf(format)}`,
    permission: "payment:view",
    query: statementQuery,
    answers: answersOf(format, "The payments and their sums", statementLineBody),
    reads: ({ db, merchantId, request }) => placeReads(db, merchantId, "payments", request?.query.after),
    answer: async (call) => {
      if (call.query.after !== undefined && call.query.asOf === undefined) return refused("asOf", NO_MOMENT);
      const range = await rangeOf(call);
      if (!range.ok) return range;
      // The sums include all payments, so all of them are read; those up to `after` are not printed again.
      const isSame = async () => {
        const changed = await haveChanged(call.deps, call.merchant.id, range.value);
        return changed.ok && changed.value ? refused("after", CHANGED) : changed;
      };
      const same = await isSame();
      if (!same.ok) return same;
      const all = { ...range.value, after: undefined, isCounted: true };
      const pages = await exportPayments(call.deps, call.merchant.id, all);
      if (!pages.ok) return pages;
      const { days, month } = call.query;
      const lines = statementLines(pages.value, { days, after: range.value.after, isSame });
      const name = `statement-${month}`;
      return ok(exportReply({ format, name, columns: STATEMENT_COLUMNS, lines, range: range.value }));
    },
  });
}

const CHANGED = "is behind payments that changed since `asOf`, so its sums differ: begin at the beginning";

const NO_MOMENT = "must be the `Export-As-Of` of the first part, to continue a statement";

function refused(path: string, message: string): Result<never, Failure> {
  return err({ code: "VALIDATION_FAILED", details: [{ path, message }] });
}

interface RangeQuery {
  readonly fromMs: number;
  readonly beforeMs: number;
  readonly asOf?: number | undefined;
  readonly after?: string | undefined;
}

interface Range {
  readonly fromMs: number;
  readonly beforeMs: number;
  readonly asOfMs: number;
  readonly after: Position | undefined;
}

interface RangeCall {
  readonly query: RangeQuery;
  readonly read: readonly (readonly Position[])[];
  readonly nowMs: number;
  readonly deps: Pick<ExportDependencies, "waitOf">;
  readonly merchant: { readonly id: string };
}

/** Fails with RATE_LIMITED, or with VALIDATION_FAILED if `after` is unknown, before rows are read. */
async function rangeOf({ query, read, nowMs, deps, merchant }: RangeCall): Promise<Result<Range, Failure>> {
  const { fromMs, beforeMs, asOf = nowMs, after } = query;
  const place = read[0]?.[0];
  if (after !== undefined && place === undefined) return refused("after", "is not the id of a line of this export");
  const retryAfterSeconds = await deps.waitOf(merchant.id);
  if (retryAfterSeconds > 0) return err({ code: "RATE_LIMITED", retryAfterSeconds });
  return ok({ fromMs, beforeMs, asOfMs: Math.min(asOf, nowMs), after: place });
}

async function* linesOf<Row, Column extends string>(
  pages: AsyncIterable<readonly Row[]>,
  lineOf: (row: Row) => Line<Column>,
): AsyncGenerator<readonly Line<Column>[]> {
  for await (const page of pages) yield page.map(lineOf);
}

async function* statementLines(
  pages: AsyncIterable<readonly ExportedPayment[]>,
  of: {
    readonly days: readonly Period[];
    readonly after: Position | undefined;
    readonly isSame: () => Promise<Result<unknown, Failure>>;
  },
) {
  const { days, after, isSame } = of;
  let sums: Sums = new Map();
  for await (const page of pages) {
    sums = sumsWith(sums, page);
    const shown = after === undefined ? page : page.filter((payment) => isBehind(payment, after));
    yield shown.map((payment) => statementLineOf(payment, days));
  }
  if (after !== undefined && !(await isSame()).ok) throw new Error("lines of a statement changed before its sums");
  yield totalLines(sums);
}

function isBehind(row: Position, place: Position): boolean {
  if (row.createdAtMs !== place.createdAtMs) return row.createdAtMs > place.createdAtMs;
  return row.id > place.id;
}

interface Export<Column extends string> {
  readonly format: ExportFormat;
  readonly name: string;
  readonly columns: readonly Column[];
  readonly lines: AsyncIterable<readonly Line<Column>[]>;
  readonly range: Range;
}

const CONTENT_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: "text/csv; charset=utf-8",
  jsonl: "application/jsonl; charset=utf-8",
};

function exportReply<Column extends string>(of: Export<Column>): Reply {
  const { format, name, range } = of;
  return {
    status: 200,
    body: textStream(texts(of)),
    headers: {
      "content-type": CONTENT_TYPES[format],
      "content-disposition": `attachment; filename="${name}.${format}"`,
      "export-as-of": isoTime(range.asOfMs),
    },
  };
}

async function* texts<Column extends string>({
  format,
  columns,
  lines,
  range,
}: Export<Column>): AsyncGenerator<string> {
  if (range.after === undefined) yield headOf(format, columns);
  for await (const page of lines) yield textOf(format, columns, page);
}
