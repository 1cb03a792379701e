// `npm run bench:profile -- create [--connections 64] [--seconds 8]`: where the Worker's own time goes, at the edge and in its objects, by area,
// file and function, from V8's sampling profiler. D1 and the storage of objects run elsewhere: they appear as (elsewhere) or (idle), and in the CPU
// time of the process. Other scenarios are in SCENARIOS.
import { parseArgs } from "node:util";
import {
  createTarget,
  directTarget,
  freshDirectWallet,
  manyMerchantsTarget,
  merchantWithProof,
  merchantWithTwoWallets,
  merchantWithXpub,
} from "./benchmarks/create-targets.ts";
import { freePort } from "./free-port.ts";
import type { Target } from "./interleave.ts";
import { startLoadGenerator } from "./load/client.ts";
import { requestText } from "./load/request.ts";
import { type Merchant, type Product, serveProduct, WORKER_NAME } from "./product.ts";
import { startProfiler } from "./profile/inspector.ts";
import { ELSEWHERE, selfTimes } from "./profile/self-times.ts";
import { plainTable } from "./report.ts";

const SAMPLE_EVERY_US = 200;
const SHOWN = 40;
const NOT_OWN = ["(idle)", ELSEWHERE];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { connections: { type: "string", default: "16" }, seconds: { type: "string", default: "8" } },
});
const SCENARIOS = ["create", "create-xpub", "create-direct", "create-merchants", "replay", "get", "list", "page"];
const scenario = positionals[0] ?? "create";
if (!SCENARIOS.includes(scenario)) throw new Error(`no scenario ${scenario}; there are ${SCENARIOS.join(", ")}`);
const connections = Number(values.connections);
// Not a fixed port: another profile may be running on the same machine.
const inspectorPort = await freePort();
const product = await serveProduct({ inspectorPort });
const load = startLoadGenerator();
try {
  const { merchant, create } = await creates(product);
  const run = (
    templates: readonly string[],
    expectStatus: number,
    seconds: number,
    numbers: { from: number; count: number },
  ) =>
    load.run({
      host: product.served.host,
      port: product.served.port,
      connections,
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
  const profiler = await startProfiler(inspectorPort, WORKER_NAME, SAMPLE_EVERY_US);
  const cpuBefore = product.served.cpuSeconds() ?? Number.NaN;
  const { requests, seconds } = await run(
    templates,
    templates === create.templates ? 201 : 200,
    Number(values.seconds),
    numbers,
  );
  const cpuMs = (((product.served.cpuSeconds() ?? Number.NaN) - cpuBefore) * 1_000) / requests;
  const times = selfTimes(await profiler.stop(), product);
  console.log(
    `${scenario}, c = ${connections}, under the profiler: ${requests} requests in ${seconds.toFixed(1)} s; ` +
      `CPU of the whole process ${cpuMs.toFixed(2)} ms a request, time of the worker's own isolate ` +
      `${(ownUs(times.byArea) / requests / 1_000).toFixed(2)} ms`,
  );
  print("area", times.byArea, requests);
  print("file", times.byFile, requests);
  print("function", times.byFunction, requests);
} finally {
  load.stop();
  await product.served.stop();
}

/** The target for the scenario's creates. Scenarios that read also start with creates, for the objects that they read. */
async function creates(of: Product): Promise<{ readonly merchant: Merchant; readonly create: Target }> {
  if (scenario === "create-direct") {
    const merchant = await merchantWithProof(of, freshDirectWallet());
    return { merchant, create: directTarget(scenario, of, merchant) };
  }
  const isDerived = scenario === "create-xpub" || scenario === "page";
  const merchant = await (isDerived ? merchantWithXpub(of) : merchantWithTwoWallets(of));
  const isForMany = scenario === "create-merchants";
  const create = isForMany ? manyMerchantsTarget(scenario, of, connections) : createTarget(scenario, of, merchant);
  return { merchant, create: await create };
}

async function reads(of: Product, merchant: Merchant): Promise<readonly string[]> {
  const get = (path: string) => requestText({ method: "GET", path: merchant.path(path), headers: merchant.headers });
  if (scenario === "list") return [get("/invoices?limit=20&cursor=")];
  const { results } = await of.database.prepare("SELECT id FROM invoices LIMIT 200").all<{ id: string }>();
  if (scenario === "page") return results.map(({ id }) => requestText({ method: "GET", path: `/pay/${id}` }));
  return results.map((row) => get(`/invoices/${row.id}`));
}

/** Microseconds in which the worker's own isolate ran. */
function ownUs(times: ReadonlyMap<string, number>): number {
  return [...times].filter(([name]) => !NOT_OWN.includes(name)).reduce((sum, [, us]) => sum + us, 0);
}

/** Shares are relative to the time in which the worker's own isolate ran. */
function print(title: string, times: ReadonlyMap<string, number>, requests: number): void {
  const own = ownUs(times);
  const largest = [...times].sort(([, a], [, b]) => b - a).slice(0, SHOWN);
  const rows = largest.map(([name, us]) => {
    const share = NOT_OWN.includes(name) ? "" : ((us / own) * 100).toFixed(1);
    return [(us / requests).toFixed(1), share, name];
  });
  console.log(`\n${plainTable(["us a request", "%", title], rows)}`);
}
