// Comma-separated values as spreadsheets read them (RFC 4180).

const LINE_END = "\r\n";

/**
 * The beginning of a formula, after anything that a spreadsheet may skip. Tested on the text's compatibility form, because spreadsheets in some
 * languages accept a full-width sign.
 */
const FORMULA = /^([\t\r\n]|[\s\p{C}\p{Z}"]*[=+\-@\u2212])/u;

/** Where a cell begins for a spreadsheet that separates cells with semicolons (as in German) or tabs, and so ignores our quotation marks. */
const CELL_BEGINS = /(?<=[;\t\r\n])(?![\t\r\n])/;

/** One record with its line end. An apostrophe in front keeps a spreadsheet from running a value as a formula (OWASP "CSV Injection"). */
export function csvRecord(fields: readonly (string | number)[]): string {
  return fields.map(csvField).join(",") + LINE_END;
}

function csvField(field: string | number): string {
  if (typeof field === "number") return String(field);
  const cells = field.split(CELL_BEGINS);
  const harmless = cells.map((cell) => (FORMULA.test(cell.normalize("NFKC")) ? `'${cell}` : cell)).join("");
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
