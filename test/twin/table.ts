// Measures how fast 1, 16 and 64 clients create invoices with a near, a usual and a far database. Each client waits for one create before it sends
// the next. Each measurement has one shop with one payment address and no endpoint, so that only creates are measured; the deployment's jobs run
// concurrently.
import type { EvmChain } from "../../scripts/demo-story/evm-chain.ts";
import { keysOf } from "../../scripts/keys-of.ts";
import { Day } from "./day.ts";
import type { Twin } from "./deployment.ts";
import { type Figures, figuresOf } from "./measured.ts";
import { FAR, NEAR, USUAL } from "./weather.ts";

const CLIENTS = [1, 16, 64] as const;
const WEATHERS = { near: NEAR, usual: USUAL, far: FAR } as const;

interface Cell extends Figures {
  readonly clients: number;
  readonly weather: string;
  readonly createdASecond: number;
  /** The maximum number of concurrent timers of any object so far. */
  readonly mostTimers: number;
  /** The largest heap of any isolate during the run. */
  readonly mostHeapBytes: number;
  readonly databaseCallsACreate: number;
}

interface TableOptions {
  /** How long each cell is measured. */
  readonly seconds: number;
  readonly random: () => number;
  readonly onCell: (cell: Cell) => void;
}

export async function playTable(
  twin: Twin,
  chain: EvmChain,
  session: Readonly<Record<string, string>>,
  options: TableOptions,
): Promise<readonly Cell[]> {
  const cells: Cell[] = [];
  for (const weather of keysOf(WEATHERS))
    for (const clients of CLIENTS) {
      const cell = await play(twin, chain, session, { ...options, weather, clients });
      cells.push(cell);
      options.onCell(cell);
    }
  return cells;
}

async function play(
  twin: Twin,
  chain: EvmChain,
  session: Readonly<Record<string, string>>,
  {
    seconds,
    random,
    weather,
    clients,
  }: TableOptions & { readonly weather: keyof typeof WEATHERS; readonly clients: number },
): Promise<Cell> {
  const day = new Day(twin, chain, {
    shops: 1,
    rate: 0,
    clients,
    seconds,
    random,
    settleMs: 0,
    paid: 0,
    cancelled: 0,
    expired: 0,
    isWatched: false,
  });
  await day.open(session);
  twin.gate.weather = WEATHERS[weather];
  const [begunMs, callsBefore] = [Date.now(), twin.gate.counts.calls];
  await day.play();
  const [tookS, calls] = [(Date.now() - begunMs) / 1_000, twin.gate.counts.calls - callsBefore];
  await twin.heap.sample();
  return {
    clients,
    weather,
    ...figuresOf(day.routes.get("POST /invoices") ?? []),
    createdASecond: day.created / tookS,
    mostTimers: Math.max(2, ...twin.timers.values()),
    mostHeapBytes: twin.heap.mostSince(begunMs),
    databaseCallsACreate: calls / Math.max(1, day.created),
  };
}

const HEAD = [
  "database",
  "clients",
  "creates/s",
  "p50 ms",
  "p99 ms",
  "errors",
  "timers",
  "heap MiB",
  "D1 calls/create",
];

export function tableText(cells: readonly Cell[]): string {
  const rows = cells.map((cell) => [
    cell.weather,
    String(cell.clients),
    cell.createdASecond.toFixed(1),
    String(cell.p50),
    String(cell.p99),
    String(cell.errors),
    String(cell.mostTimers),
    (cell.mostHeapBytes / 2 ** 20).toFixed(1),
    cell.databaseCallsACreate.toFixed(2),
  ]);
  const widths = HEAD.map((head, column) => Math.max(head.length, ...rows.map((row) => (row[column] ?? "").length)));
  return [HEAD, ...rows]
    .map((row) => row.map((text, column) => text.padStart(widths[column] ?? 0)).join("  "))
    .join("\n");
}
