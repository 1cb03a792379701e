// The recovery export as text, in chunks, so that a hundred thousand addresses are never in memory at once (decisions 3). In CSV
// (RFC 4180) every record has the same eight fields: the first record describes the wallet, each later one an address.

import { csvRecord } from "../../lib/csv.ts";

export type RecoveryFormat = "json" | "csv";

export interface RecoverySummary {
  readonly descriptor: string;
  readonly nextIndex: number;
  readonly gapLimit: number;
}

export interface RecoveredAddress {
  readonly index: number;
  /** Null if the stored row fails its integrity check. */
  readonly address: string | null;
  readonly path: string;
  readonly invoiceId: string;
  readonly createdAt: string;
}

/** The gap limit that wallet software uses by default (BIP44 "Address gap limit"). */
const USUAL_GAP_LIMIT = 20;
const COLUMNS = ["index", "address", "path", "invoiceId", "createdAt", "descriptor", "nextIndex", "gapLimit"] as const;

/** The gap limit that finds every address. `longestRun`: the longest run of indexes without money, including the run that ends at `nextIndex`. */
export function gapLimitFor(longestRun: number): number {
  return longestRun + USUAL_GAP_LIMIT;
}

/** The requested format: from the query, else from the Accept header. */
export function recoveryFormat(asked: RecoveryFormat | undefined, accept: string | undefined): RecoveryFormat {
  return asked ?? (/\btext\/csv\b/i.test(accept ?? "") ? "csv" : "json");
}

export function recoveryHead(format: RecoveryFormat, summary: RecoverySummary): string {
  const { descriptor, nextIndex, gapLimit } = summary;
  if (format === "csv") return csvRecord(COLUMNS) + csvRecord(["", "", "", "", "", descriptor, nextIndex, gapLimit]);
  return `${JSON.stringify({ descriptor, nextIndex, gapLimit }).slice(0, -1)},"addresses":[`;
}

/** A page of addresses, in order. `isFirst`: this is the first page with addresses. */
export function recoveryRows(format: RecoveryFormat, rows: readonly RecoveredAddress[], isFirst: boolean): string {
  if (rows.length === 0) return "";
  if (format === "json") return (isFirst ? "" : ",") + rows.map((row) => JSON.stringify(row)).join(",");
  return rows
    .map((row) => csvRecord([row.index, row.address ?? "", row.path, row.invoiceId, row.createdAt, "", "", ""]))
    .join("");
}

export function recoveryTail(format: RecoveryFormat): string {
  return format === "json" ? "]}" : "";
}
