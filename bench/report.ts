// The common format of all figures, and its output as text and as markdown. A figure is a ratio to a baseline of the same run; absolute numbers only
// show how fast the machine is.
import type { Spread } from "./statistics.ts";

/** The requirement of performance.md for a figure. */
export type Target = { readonly atLeast: number } | { readonly atMost: number };

export interface Figure {
  readonly what: string;
  readonly baseline: string;
  readonly ratio: Spread;
  readonly target?: Target;
  /** The absolute medians behind the ratio, as text. */
  readonly measured: string;
}

/** A table of something other than ratios, such as bytes by library. */
export interface Listing {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Outcome {
  readonly figures: readonly Figure[];
  readonly listings?: readonly Listing[];
}

const COLUMNS = ["what", "compared with", "ratio", "range", "target", "", "measured"] as const;

export function plainTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] ?? "").length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd();
  return [line(columns), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(columns), line(columns.map(() => "---")), ...rows.map(line)].join("\n");
}

/** All outcomes as text: one table of figures, then the listings. */
export function printOutcomes(outcomes: readonly Outcome[], isMarkdown: boolean): string {
  const table = isMarkdown ? markdownTable : plainTable;
  const figures = outcomes.flatMap((outcome) => outcome.figures).map(cellsOf);
  const parts = figures.length === 0 ? [] : [table(COLUMNS, figures)];
  for (const listing of outcomes.flatMap((outcome) => outcome.listings ?? [])) {
    const title = isMarkdown ? `**${listing.title}**` : listing.title;
    parts.push(`${title}\n\n${table(listing.columns, listing.rows)}`);
  }
  return parts.join("\n\n");
}

function cellsOf(figure: Figure): readonly string[] {
  const { ratio, target } = figure;
  const range = `${digits(ratio.low)} .. ${digits(ratio.high)}`;
  return [
    figure.what,
    figure.baseline,
    digits(ratio.median),
    range,
    targetText(target),
    verdict(figure),
    figure.measured,
  ];
}

function targetText(target: Target | undefined): string {
  if (target === undefined) return "";
  return "atLeast" in target ? `>= ${digits(target.atLeast)}` : `<= ${digits(target.atMost)}`;
}

function verdict({ ratio, target }: Figure): string {
  if (target === undefined) return "";
  const isMet = "atLeast" in target ? ratio.median >= target.atLeast : ratio.median <= target.atMost;
  return isMet ? "met" : "missed";
}

/** Two decimals below 10, one above. */
function digits(value: number): string {
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}
