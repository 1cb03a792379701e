// Formats the lines of an export: JSON lines for programs, CSV for spreadsheets. Both have the same members in the same order.
import { csvRecord } from "../../lib/csv.ts";

export const EXPORT_FORMATS = ["jsonl", "csv"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

type Cell = string | number | boolean | null | readonly string[];
export type Line<Column extends string = string> = Readonly<Record<Column, Cell>>;

/** With this mark at the beginning Excel reads a file as UTF-8; otherwise it uses the computer's own encoding. */
const BYTE_ORDER_MARK = "\uFEFF";

/** The column names of a CSV file; JSON lines have none. Not written for a part that will be appended to an earlier one. */
export function headOf(format: ExportFormat, columns: readonly string[]): string {
  return format === "csv" ? BYTE_ORDER_MARK + csvRecord(columns) : "";
}

export function textOf<Column extends string>(
  format: ExportFormat,
  columns: readonly Column[],
  lines: readonly Line<Column>[],
): string {
  if (format === "jsonl") return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  return lines.map((line) => csvRecord(columns.map((column) => csvCell(line[column])))).join("");
}

function csvCell(cell: Cell): string | number {
  if (cell === null) return "";
  if (typeof cell === "object") return cell.join(" ");
  return typeof cell === "number" ? cell : String(cell);
}
