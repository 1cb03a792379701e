// `node bench/profile.ts create|create-xpub|replay|get|list|page`: where the Worker's own time goes, by library, file and function, from V8's
// sampling profiler. The runtime's native work and the storage behind it show as (program) and (idle).
import { createTarget, merchantWithTwoWallets, merchantWithXpub } from "./benchmarks/create.ts";
import { startLoadGenerator } from "./load/client.ts";
import { requestText } from "./load/request.ts";
import { type Merchant, type Product, serveProduct, WORKER_NAME } from "./product.ts";
import { plainTable } from "./report.ts";

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { functionName: string; lineNumber: number; url: string };
  }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

const INSPECTOR_PORT = 19_229;
const SECONDS = 8;
const CONNECTIONS = 16;
const SHOWN = 40;

const scenario = process.argv[2] ?? "create";
const product = await serveProduct({ inspectorPort: INSPECTOR_PORT });
const load = startLoadGenerator();
try {
  const merchant = await (scenario === "create-xpub" || scenario === "page"
    ? merchantWithXpub(product)
    : merchantWithTwoWallets(product));
  const create = createTarget(scenario, product, merchant);
  const run = (
    templates: readonly string[],
    expectStatus: number,
    seconds: number,
    numbers: { from: number; count: number },
  ) =>
    load.run({
      host: product.served.host,
      port: product.served.port,
      connections: CONNECTIONS,
      maxSeconds: seconds,
      maxRequests: 100_000,
      templates,
      numbers,
      expectStatus,
      pattern: "(.)",
    });
  const fresh = (from: number) => ({ from, count: 100_000 });
  const warm = await run(create.templates, 201, 2, fresh(0));
  const templates =
    scenario.startsWith("create") || scenario === "replay" ? create.templates : await reads(product, merchant);
  const numbers = scenario === "replay" ? { from: 0, count: warm.requests } : fresh(1_000_000);
  const inspector = await openInspector();
  await inspector.send("Profiler.enable");
  await inspector.send("Profiler.setSamplingInterval", { interval: 100 });
  await inspector.send("Profiler.start");
  const result = await run(templates, templates === create.templates ? 201 : 200, SECONDS, numbers);
  const { profile } = await inspector.send("Profiler.stop");
  inspector.close();
  print(profile, product.code, result.requests);
} finally {
  load.stop();
  await product.served.stop();
}

async function reads(of: Product, merchant: Merchant): Promise<readonly string[]> {
  const get = (path: string) => requestText({ method: "GET", path: merchant.path(path), headers: merchant.headers });
  if (scenario === "list") return [get("/invoices?limit=20")];
  const { results } = await of.database.prepare("SELECT id FROM invoices LIMIT 200").all<{ id: string }>();
  if (scenario === "page") return results.map(({ id }) => requestText({ method: "GET", path: `/pay/${id}` }));
  return results.map((row) => get(`/invoices/${row.id}`));
}

/** The inspector's protocol over its WebSocket. */
async function openInspector() {
  const socket = new WebSocket(`ws://127.0.0.1:${INSPECTOR_PORT}/core:user:${WORKER_NAME}`);
  const waiting = new Map<number, (result: { profile: Profile }) => void>();
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  socket.addEventListener("message", (event) => {
    const { id, result } = JSON.parse(String(event.data));
    waiting.get(id)?.(result);
  });
  let next = 1;
  return {
    send: (method: string, params = {}) =>
      new Promise<{ profile: Profile }>((resolve) => {
        waiting.set(next, resolve);
        socket.send(JSON.stringify({ id: next++, method, params }));
      }),
    close: () => socket.close(),
  };
}

function print(profile: Profile, code: string, requests: number): void {
  const fileOfLine = filesByLine(code);
  const frames = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  const byFunction = new Map<string, number>();
  const byFile = new Map<string, number>();
  const byLibrary = new Map<string, number>();
  const add = (totals: Map<string, number>, key: string, by: number) => totals.set(key, (totals.get(key) ?? 0) + by);
  profile.samples.forEach((id, i) => {
    const frame = frames.get(id);
    if (frame === undefined) return;
    const took = profile.timeDeltas[i] ?? 0;
    const file = frame.url.endsWith("worker.js")
      ? (fileOfLine[frame.lineNumber] ?? "(unknown)")
      : `(${frame.url || frame.functionName || "runtime"})`;
    add(byFunction, `${frame.functionName || "(anonymous)"} ${file}:${frame.lineNumber}`, took);
    add(byFile, file, took);
    add(byLibrary, libraryIn(file), took);
  });
  const total = profile.timeDeltas.reduce((sum, each) => sum + each, 0);
  console.log(`${requests} requests in ${(total / 1e6).toFixed(1)} s`);
  for (const [title, totals] of [
    ["library", byLibrary],
    ["file", byFile],
    ["function", byFunction],
  ] as const) {
    const rows = [...totals].sort(([, a], [, b]) => b - a).slice(0, SHOWN);
    console.log(
      `\n${plainTable(
        [title, "us a request", "%"],
        rows.map(([name, us]) => [name, (us / requests).toFixed(1), ((us / total) * 100).toFixed(1)]),
      )}`,
    );
  }
}

/** The package of a file, ours, or the part of the runtime. */
function libraryIn(file: string): string {
  const library = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
  return library ?? (file.startsWith("(") ? file : "edgetill");
}

/** esbuild writes `// path` before each module of a readable bundle. */
function filesByLine(code: string): readonly string[] {
  let file = "(bundle)";
  return code.split("\n").map((line) => {
    const path = /^\/\/ ((?:src|node_modules|bench)\/\S+)$/.exec(line)?.[1];
    if (path !== undefined) file = path;
    return file;
  });
}
