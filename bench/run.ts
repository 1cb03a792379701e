// `npm run bench`: measures the product against baselines of the same run, prints one table and writes JSON as well.
//   npm run bench -- --only create,derive    only these benchmarks
//   npm run bench -- --quick                 about a minute: shorter windows, one number of clients, fewer rows
//   npm run bench -- --connections 16,64     the numbers of concurrent clients, instead of 1, 16 and 64
//   npm run bench -- --markdown              prints the table in markdown, for bench/README.md
//   npm run bench -- --rows 100000           the size of the large table
// A whole run writes results/latest.json, which is committed as the source of the table in bench/README.md; any other run writes
// results/partial.json, which is not.
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { chainParse, chainPolls, watcherMemory } from "./benchmarks/chains.ts";
import { consolePages } from "./benchmarks/console.ts";
import { create, createForManyMerchants, createWithDirect, createWithXpub } from "./benchmarks/create.ts";
import { createBesidePeer } from "./benchmarks/create-peer.ts";
import { createWatched } from "./benchmarks/create-watched.ts";
import { deliveries, deliveryLatency, hungEndpoint } from "./benchmarks/deliveries.ts";
import { derive } from "./benchmarks/derive.ts";
import { due } from "./benchmarks/due.ts";
import { exportOfPayments } from "./benchmarks/export.ts";
import { pages } from "./benchmarks/pages.ts";
import { paymentLatency } from "./benchmarks/payment-latency.ts";
import { placeOrder } from "./benchmarks/place-order.ts";
import { get, replay } from "./benchmarks/read.ts";
import { createAtManyRows, list } from "./benchmarks/rows.ts";
import { search } from "./benchmarks/search.ts";
import { size } from "./benchmarks/size.ts";
import { start } from "./benchmarks/start.ts";
import { starved } from "./benchmarks/starved.ts";
import { createAmongStrangers } from "./benchmarks/strangers.ts";
import { Context } from "./context.ts";
import { parseOptions } from "./options.ts";
import { type Outcome, printOutcomes } from "./report.ts";

const BENCHMARKS: Readonly<Record<string, (context: Context) => Promise<Outcome>>> = {
  create,
  "create-xpub": createWithXpub,
  "create-direct": createWithDirect,
  "create-merchants": createForManyMerchants,
  "create-peer": createBesidePeer,
  "place-order": placeOrder,
  "create-strangers": createAmongStrangers,
  "create-watched": createWatched,
  replay,
  get,
  list,
  "create-rows": createAtManyRows,
  starved,
  search,
  due,
  export: exportOfPayments,
  derive,
  "chain-polls": chainPolls,
  "chain-parse": chainParse,
  "watcher-memory": watcherMemory,
  "payment-latency": paymentLatency,
  deliveries,
  "hung-endpoint": hungEndpoint,
  "delivery-latency": deliveryLatency,
  pages,
  console: consolePages,
  size,
  start,
};

const options = parseOptions(process.argv.slice(2), Object.keys(BENCHMARKS));
const context = new Context(options);
const startedMs = Date.now();
const outcomes: Record<string, Outcome> = {};
const failures: Record<string, string> = {};
try {
  for (const [name, run] of Object.entries(BENCHMARKS)) {
    if (options.only.length > 0 && !options.only.includes(name)) continue;
    try {
      outcomes[name] = await run(context);
    } catch (error) {
      // One broken benchmark does not discard the others; the run still fails.
      failures[name] = error instanceof Error ? error.message : String(error);
    }
  }
} finally {
  await context.stop();
}

const seconds = Math.round((Date.now() - startedMs) / 1_000);
const machine = { node: process.version, cores: cpus().length, cpu: cpus()[0]?.model ?? "unknown" };
console.log(printOutcomes(Object.values(outcomes), options.isMarkdown));
console.log(`\n${machine.cores} cores (${machine.cpu}), Node ${machine.node}, ${seconds} s.`);
for (const [name, message] of Object.entries(failures)) console.error(`\n${name} failed: ${message}`);

const isWhole =
  !options.isQuick &&
  options.connections === undefined &&
  options.only.length === 0 &&
  Object.keys(failures).length === 0;
mkdirSync(`${import.meta.dirname}/results`, { recursive: true });
const file = `${import.meta.dirname}/results/${isWhole ? "latest" : "partial"}.json`;
writeFileSync(
  file,
  `${JSON.stringify({ at: new Date().toISOString(), machine, options, seconds, outcomes, failures }, null, 2)}\n`,
);
process.exitCode = Object.keys(failures).length > 0 ? 1 : 0;
