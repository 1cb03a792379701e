// Serves a bundled worker in Miniflare on a direct loopback socket, without a proxy in front (performance.md "How it is measured"). All state is in one of
// Miniflare's temporary directories, which is removed with it.
import { readdirSync, readFileSync } from "node:fs";
import { convertV4MiniflareOptions, Miniflare, type V4WorkerOptions } from "miniflare";
import type { TextModule } from "./bundle.ts";

/** The D1 binding, used from outside the worker. */
export type BenchDatabase = D1Database;

/** The parts of a server that the load generator needs. */
export interface Reachable {
  readonly host: string;
  readonly port: number;
  /** CPU seconds of its process so far; undefined if unreadable. */
  readonly cpuSeconds: () => number | undefined;
}

export interface Served extends Reachable {
  /** Resident memory of its process; undefined if unreadable. */
  readonly memoryBytes: () => number | undefined;
  readonly database: () => Promise<BenchDatabase>;
  /** Sends messages to the queue of a producer binding. */
  readonly sendToQueue: (binding: string, bodies: readonly unknown[]) => Promise<void>;
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>;
  readonly stop: () => Promise<void>;
}

export interface WorkerShape {
  readonly code: string;
  readonly texts?: readonly TextModule[];
  /** Bindings, compatibility and limits in wrangler's own form, without the script. */
  readonly options: Omit<V4WorkerOptions, "modules" | "script" | "scriptPath" | "modulesRoot">;
  readonly inspectorPort?: number | undefined;
  /** Runs this many copies of the worker in one runtime, for timing start-up; the first one answers. */
  readonly copies?: number;
}

/** Ticks per second in the CPU times of /proc, on every Linux that Node supports. */
const TICKS_PER_SECOND = 100;

export async function serve(shape: WorkerShape): Promise<Served> {
  const before = new Set(childrenNamed("workerd"));
  const worker = {
    ...shape.options,
    modules: [
      { type: "ESModule", path: "worker.js", contents: shape.code },
      ...(shape.texts ?? []).map((text) => ({ type: "Text" as const, ...text })),
    ],
    modulesRoot: ".",
  } satisfies V4WorkerOptions;
  const copies = Array.from({ length: (shape.copies ?? 1) - 1 }, (_, i) => ({ ...worker, name: `copy-${i + 1}` }));
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      workers: [{ ...worker, unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] }, ...copies],
      host: "127.0.0.1",
      port: 0,
      cf: false,
      handleStructuredLogs: firstLogs(),
      ...(shape.inspectorPort === undefined ? {} : { inspectorPort: shape.inspectorPort }),
    }),
  );
  await miniflare.ready;
  const url = await miniflare.unsafeGetDirectURL();
  const workerd = childrenNamed("workerd").find((pid) => !before.has(pid));
  return {
    host: url.hostname,
    port: Number(url.port),
    database: () => miniflare.getD1Database("DB"),
    sendToQueue: async (binding, bodies) => {
      const queue = await miniflare.getQueueProducer(binding);
      await queue.sendBatch(bodies.map((body) => ({ body })));
    },
    cpuSeconds: () => (workerd === undefined ? undefined : cpuSecondsOf(workerd)),
    memoryBytes: () => (workerd === undefined ? undefined : memoryBytesOf(workerd)),
    fetch: (path, init) => fetch(new URL(path, url), init),
    stop: () => miniflare.dispose(),
  };
}

/** Shows only a worker's first log lines, because an error under load may repeat a thousand times. */
function firstLogs(): (log: { readonly message: string }) => void {
  let left = 3;
  return ({ message }) => {
    if (left-- > 0) process.stderr.write(`  worker: ${message}\n`);
  };
}

/** Process ids of our own children with that name; empty if there is no /proc. */
function childrenNamed(name: string): number[] {
  let entries: string[];
  try {
    entries = readdirSync("/proc");
  } catch {
    return [];
  }
  return entries
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => {
      const stat = statOf(Number(entry));
      return stat !== undefined && stat.name === name && stat.parent === process.pid ? [Number(entry)] : [];
    });
}

function cpuSecondsOf(pid: number): number | undefined {
  const stat = statOf(pid);
  return stat === undefined ? undefined : (stat.userTicks + stat.systemTicks) / TICKS_PER_SECOND;
}

function memoryBytesOf(pid: number): number | undefined {
  try {
    const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined; // The process has ended.
  }
}

/** /proc/<pid>/stat (proc(5)): the name is in brackets and may contain blanks; after it, fields 3 (state), 4 (parent), 14, 15 (CPU). */
function statOf(pid: number): { name: string; parent: number; userTicks: number; systemTicks: number } | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined; // The process has ended.
  }
  const nameEnd = text.lastIndexOf(")");
  const fields = text.slice(nameEnd + 2).split(" ");
  return {
    name: text.slice(text.indexOf("(") + 1, nameEnd),
    parent: Number(fields[1]),
    userTicks: Number(fields[11]),
    systemTicks: Number(fields[12]),
  };
}
