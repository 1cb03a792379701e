// The recovery export as text, in chunks, so that a hundred thousand addresses are never in memory at once (decisions 3). As CSV
// (RFC 4180) every record has the same eight fields: the first describes the wallet, each other one address.

export type RecoveryFormat = "json" | "csv";

export interface RecoverySummary {
  readonly descriptor: string;
  readonly nextIndex: number;
  readonly gapLimit: number;
}

export interface RecoveredAddress {
  readonly index: number;
  /** Null where the stored row fails its integrity check. */
  readonly address: string | null;
  readonly path: string;
  readonly invoiceId: string;
  readonly createdAt: string;
}

/** What wallet software scans past by itself (BIP44 "Address gap limit"). */
const USUAL_GAP_LIMIT = 20;
const COLUMNS = ["index", "address", "path", "invoiceId", "createdAt", "descriptor", "nextIndex", "gapLimit"] as const;
const LINE_END = "\r\n";

/** The gap limit that shows every address: `longestRun` is the longest run of indexes without money, the one before `nextIndex` included. */
export function gapLimitFor(longestRun: number): number {
  return longestRun + USUAL_GAP_LIMIT;
}

/** The format asked for: by the query, else by the Accept header. */
export function recoveryFormat(asked: RecoveryFormat | undefined, accept: string | undefined): RecoveryFormat {
  return asked ?? (/\btext\/csv\b/i.test(accept ?? "") ? "csv" : "json");
}

export function recoveryHead(format: RecoveryFormat, summary: RecoverySummary): string {
  const { descriptor, nextIndex, gapLimit } = summary;
  if (format === "csv") return csvRecord(COLUMNS) + csvRecord(["", "", "", "", "", descriptor, nextIndex, gapLimit]);
  return `${JSON.stringify({ descriptor, nextIndex, gapLimit }).slice(0, -1)},"addresses":[`;
}

/** A page of addresses, in order; `isFirst` for the first page that holds any. */
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

/** One record with its line end. A text that a spreadsheet would run as a formula is kept from it by an apostrophe (OWASP "CSV Injection"). */
export function csvRecord(fields: readonly (string | number)[]): string {
  return fields.map(csvField).join(",") + LINE_END;
}

function csvField(field: string | number): string {
  if (typeof field === "number") return String(field);
  const harmless = /^[=+\-@\t\r\n]/.test(field) ? `'${field}` : field;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
