// `npm run bench:soak -- --minutes 60`: measures the memory of `npm start` under a steady load. Prints a row every five minutes.
//   --minutes 60        how long, from 1 to 240
//   --per-second 30     requests a second, from 1 to 200
//   --every 5           minutes per row
//   --rest 0            minutes without load afterwards, in rows of the same length
//   --collect           collects V8's garbage before each row
//   --heap-snapshots    a folder: a snapshot of the Worker's heap at the end of the first row and of the last one
// Linux only: memory is read from /proc. Ends everything that it started, and deletes the folder with the server's state.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findFreePort } from "../scripts/free-port.ts";
import { heapOf, inspectorOf, writeHeapSnapshot } from "./soak/heaps.ts";
import { SHOP, SteadyLoad } from "./soak/load.ts";
import { familyOf, type OwnProcess, residentBytes } from "./soak/processes.ts";
import { printHead, printRatios, printRow, type Row } from "./soak/report.ts";

const READY_WITHIN_MS = 180_000;
const MINUTE_MS = 60_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    "per-second": { type: "string", default: "30" },
    every: { type: "string", default: "5" },
    rest: { type: "string", default: "0" },
    collect: { type: "boolean", default: false },
    "heap-snapshots": { type: "string" },
  },
});
const minutes = within(values.minutes, { least: 1, most: 240 });
const perSecond = within(values["per-second"], { least: 1, most: 200 });
const every = within(values.every, { least: 1, most: 60 });
const rest = within(values.rest, { least: 0, most: 120 });

const home = mkdtempSync(join(tmpdir(), "edgetill-soak-"));
const port = await findFreePort();
const server = spawn(process.execPath, ["scripts/start.ts"], {
  env: { ...process.env, PORT: String(port), EDGETILL_HOME: home, RATE_LIMIT_PER_MINUTE: "0" },
  stdio: ["ignore", "pipe", "inherit"],
});
const ended = new Promise((resolve) => server.once("close", resolve));
try {
  await ready(server);
  await soak(server.pid ?? 0);
} finally {
  server.kill("SIGTERM");
  await ended;
  rmSync(home, { recursive: true, force: true });
}

async function soak(pid: number): Promise<void> {
  const load = new SteadyLoad(SHOP.parse(JSON.parse(readFileSync(join(home, "demo.json"), "utf8"))), perSecond);
  const startMs = performance.now();
  const running = load.run(startMs + minutes * MINUTE_MS);
  const rows: Row[] = [];
  printHead();
  for (let minute = every; minute <= minutes + rest; minute += every) {
    await new Promise((resolve) => setTimeout(resolve, startMs + minute * MINUTE_MS - performance.now()));
    const row = { minute, load: load.takeInterval(), ...(await memoryOf(pid)) };
    rows.push(row);
    printRow(row);
    if (values["heap-snapshots"] !== undefined && (minute === every || minute + every > minutes + rest))
      await writeHeapSnapshot(
        await inspectorOfServer(pid),
        join(values["heap-snapshots"], `minute-${minute}.heapsnapshot`),
      );
  }
  await running;
  printRatios(rows.filter(({ minute }) => minute <= minutes));
}

/** The inspector belongs to the workerd that `wrangler dev` runs in front of the Worker's own workerd. */
async function inspectorOfServer(pid: number): Promise<string> {
  for (const { pid: runtime } of runtimesOf(pid)) {
    const inspector = await inspectorOf(runtime);
    if (inspector !== undefined) return inspector;
  }
  throw new Error("no workerd with an inspector");
}

async function memoryOf(pid: number): Promise<Pick<Row, "heap" | "workerBytes" | "proxyBytes" | "nodeBytes">> {
  const heap = await heapOf(await inspectorOfServer(pid), values.collect);
  const worker = runtimesOf(pid).filter((own) =>
    own.arguments.some((argument) => argument.startsWith("--inspector-addr")),
  );
  const proxy = runtimesOf(pid).filter((own) => !worker.some((other) => other.pid === own.pid));
  const node = familyOf(pid).filter((own) => own.arguments[0]?.endsWith("/node"));
  const sum = (all: readonly OwnProcess[]) => all.reduce((bytes, own) => bytes + residentBytes(own.pid), 0);
  return { heap, workerBytes: sum(worker), proxyBytes: sum(proxy), nodeBytes: sum(node) };
}

function runtimesOf(pid: number): readonly OwnProcess[] {
  return familyOf(pid).filter((own) => own.arguments[0]?.endsWith("/workerd"));
}

function ready({ stdout }: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("the server was not ready in time")), READY_WITHIN_MS);
    let text = "";
    stdout?.on("data", (chunk) => {
      if (text.includes("Ready on ")) return;
      text += chunk;
      if (!text.includes("Ready on ")) return;
      clearTimeout(late);
      resolve();
    });
    stdout?.once("close", () => reject(new Error(`the server ended:\n${text}`)));
  });
}

function within(text: string, { least, most }: { readonly least: number; readonly most: number }): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > most)
    throw new Error(`not a whole number from ${least} to ${most}: ${text}`);
  return value;
}
