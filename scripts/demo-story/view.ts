// The demo's output: at a terminal a table that is redrawn, otherwise a line for every change.
import type { Invoice } from "./shop.ts";
import { type Ending, isAtEnd, pathOf, percentReceived, type Story } from "./story.ts";

/** One story with its current state. */
export interface Scene {
  readonly story: Pick<Story, "title" | "pair" | "usd"> & { readonly ending: Ending };
  readonly invoice: Invoice;
  readonly note: string;
}

export interface View {
  /** `seconds`: the time since the first invoice. */
  show(scenes: readonly Scene[], seconds: number): void;
}

type Write = (text: string) => void;

/** Draws the table over the previous one; `columns` is read each time, because a terminal may be resized. */
export function tableView(write: Write, columns: () => number): View {
  let drawn = 0;
  return {
    show: (scenes, seconds) => {
      const lines = tableOf(scenes, seconds).map((line) => clipped(line, columns() - 1));
      // Moves up to where the last table began; clears the rest of each line.
      const up = drawn === 0 ? "" : `\x1b[${drawn}A`;
      write(`${up}${lines.map((line) => `${line}\x1b[K\n`).join("")}\x1b[J`);
      drawn = lines.length;
    },
  };
}

/** Writes what changed since the last call. */
export function lineView(write: Write): View {
  const said = new Map<string, string>();
  return {
    show: (scenes, seconds) => {
      for (const scene of scenes) {
        const line = lineOf(scene);
        if (said.get(scene.story.title) === line) continue;
        said.set(scene.story.title, line);
        write(`${String(seconds).padStart(4)} s  ${line}\n`);
      }
    },
  };
}

function lineOf({ story, invoice, note }: Scene): string {
  const { title, pair } = story;
  const money = `${pair.cryptocurrency} on ${pair.network}, ${dollars(invoice.amountReceived)} of ${dollars(invoice.rawAmount)} USD`;
  return `${title}: ${pathOf(invoice).at(-1)} (${money})${note === "" ? "" : `: ${note}`}`;
}

/** Two rows for each story: one with the received amount, and one with the statuses so far and the note. */
export function tableOf(scenes: readonly Scene[], seconds: number): readonly string[] {
  const rows = scenes.map((scene) => ({ scene, cells: cellsOf(scene) }));
  const widths = [0, 1, 2, 3].map((at) => Math.max(...rows.map(({ cells }) => cells[at]?.length ?? 0)));
  const lines = rows.flatMap(({ scene, cells }) => {
    const padded = cells.map((cell, at) => cell.padEnd(widths[at] ?? 0));
    const mark = isAtEnd(scene.story.ending, scene.invoice) ? "✓" : "·";
    const way = `    ${shortPath(pathOf(scene.invoice))}`;
    return [`${mark} ${padded.join("  ")}`.trimEnd(), scene.note === "" ? way : `${way}  (${scene.note})`];
  });
  return ["", ...lines, "", `  ${seconds} s`];
}

function cellsOf({ story, invoice }: Scene): readonly [string, string, string, string] {
  const { pair } = story;
  const confirmations = invoice.payments.map((each) => Math.min(each.confirmations, each.requiredConfirmations));
  const required = invoice.payments[0]?.requiredConfirmations;
  const depth = required === undefined ? "" : `${confirmations.join("+")}/${required}`;
  const share = `${String(percentReceived(invoice)).padStart(3)} % of ${dollars(invoice.rawAmount)} USD`;
  return [story.title, `${pair.cryptocurrency} on ${pair.network}`, share, depth];
}

/** Only the last three statuses, because a reverted payment goes through six. */
function shortPath(path: readonly string[]): string {
  return `${path.length > 3 ? "… → " : ""}${path.slice(-3).join(" → ")}`;
}

/** Shortens six fraction digits to two. */
function dollars(amount: string): string {
  return amount.replace(/(\.\d\d)\d*$/, "$1");
}

function clipped(line: string, columns: number): string {
  return line.length <= columns ? line : `${line.slice(0, Math.max(0, columns - 1))}…`;
}
