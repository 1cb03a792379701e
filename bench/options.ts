// The command line of `npm run bench -- ...`.
import { parseArgs } from "node:util";

export interface Options {
  /** Names of the benchmarks to run; empty means all. */
  readonly only: readonly string[];
  /** About a minute instead of about 25: shorter windows, one number of clients, fewer rows. */
  readonly isQuick: boolean;
  /** The numbers of concurrent clients, for benchmarks that use several; if undefined, each benchmark uses its own. */
  readonly connections: readonly number[] | undefined;
  /** Prints the table as markdown, to be pasted into bench/README.md. */
  readonly isMarkdown: boolean;
  /** How many invoices the large table has. */
  readonly largeRows: number;
}

const FULL_ROWS = 1_000_000;
const MOST_CONNECTIONS = 256;
const QUICK_ROWS = 100_000;

/** Throws for an unknown option or name, with a message for the user. */
export function parseOptions(args: readonly string[], known: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      quick: { type: "boolean", default: false },
      markdown: { type: "boolean", default: false },
      rows: { type: "string" },
      connections: { type: "string" },
    },
  });
  const only = (values.only ?? "").split(",").filter((name) => name !== "");
  const unknown = only.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`no benchmark ${unknown.join(", ")}; there are ${known.join(", ")}`);
  const largeRows = Number(values.rows ?? (values.quick ? QUICK_ROWS : FULL_ROWS));
  if (!Number.isInteger(largeRows) || largeRows < 10_000) throw new Error("--rows takes a whole number from 10000");
  const connections = values.connections?.split(",").map(Number);
  if (connections?.some((count) => !Number.isInteger(count) || count < 1 || count > MOST_CONNECTIONS)) {
    throw new Error(`--connections takes whole numbers up to ${MOST_CONNECTIONS}, such as 16,64`);
  }
  return { only, connections, isQuick: values.quick, isMarkdown: values.markdown, largeRows };
}
