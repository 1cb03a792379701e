// Prints the table of a soak, in markdown.
import type { Heap } from "./heaps.ts";
import type { Interval } from "./load.ts";

/** The measurements since the previous row, and the memory in use at the end of this one. */
export interface Row {
  readonly minute: number;
  readonly load: Interval;
  readonly heap: Heap;
  /** Resident memory of the workerd that runs the Worker, of the one in front of it, and of wrangler together with our own script. */
  readonly workerBytes: number;
  readonly proxyBytes: number;
  readonly nodeBytes: number;
}

const HEAD = [
  "minute",
  "requests",
  "left out",
  "failed",
  "create p50",
  "p99",
  "GET p50",
  "page p50",
  "workerd MiB",
  "its heap used",
  "heap total",
  "buffers",
  "proxy MiB",
  "Node MiB",
];

export function printHead(): void {
  console.log(`| ${HEAD.join(" | ")} |\n|${" --- |".repeat(HEAD.length)}`);
}

export function printRow({ minute, load, heap, workerBytes, proxyBytes, nodeBytes }: Row): void {
  const times = [load.p50Ms.create, load.p99Ms.create, load.p50Ms.get, load.p50Ms.page].map((ms) => ms.toFixed(0));
  const memory = [workerBytes, heap.usedBytes, heap.totalBytes, heap.backingBytes, proxyBytes, nodeBytes].map(
    mebibytes,
  );
  console.log(`| ${[minute, load.requests, load.leftOut, load.failures, ...times, ...memory].join(" | ")} |`);
  if (load.firstFailure !== undefined) console.error(`  first failure: ${load.firstFailure}`);
}

/** Compares memory in the last third of the rows with the middle third; the first third is start-up. */
export function printRatios(rows: readonly Row[]): void {
  const third = Math.floor(rows.length / 3);
  if (third === 0) return;
  const most = (from: number, to: number, of: (row: Row) => number) => Math.max(...rows.slice(from, to).map(of));
  for (const [what, of] of [
    ["workerd", (row: Row) => row.workerBytes],
    ["its heap", (row: Row) => row.heap.usedBytes],
    ["all processes", (row: Row) => row.workerBytes + row.proxyBytes + row.nodeBytes],
  ] as const) {
    const ratio = most(rows.length - third, rows.length, of) / most(third, rows.length - third, of);
    console.log(`most memory of ${what} in the last third, against the middle third: ${ratio.toFixed(2)}`);
  }
}

function mebibytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(0);
}
