// Bundle size: the minified Worker, compressed as for an upload, compared with only its imported libraries.
import { globSync, readFileSync } from "node:fs";
import { type Bundle, bundleWorker, bytesByLibrary } from "../bundle.ts";
import type { Context } from "../context.ts";
import type { Outcome } from "../report.ts";
import type { Spread } from "../statistics.ts";

/** performance.md: the limit for the whole bundle. */
const MAX_GZIP_KIB = 1_024;
/**
 * The limit for the bundle in a test. It is lowered after each saving, and raised only for what a release adds. In KiB:
 * - Core: watching chains 40; delivering events 17; the checkout 57, including 25 for its texts in ten languages and 6 for QR codes; the history of
 *   quotes, the scan progress of each address, and coins sent by contracts 17.
 * - Libraries: @modelcontextprotocol/server 66; @simplewebauthn/server, which is loaded with the first passkey and reads no certificates, 64; the
 *   libraries for keys, addresses, call data and decimals 42 more than the handwritten code before them.
 * - Merchants and teams: grouped creates, the proof in API keys and the location of Durable Objects 4; allocators of amounts 1; forms in the
 *   merchant's object less than 1; reports of totals 3; exports 3, and one budget for them with an idempotency key for every change 1; the search 2,
 *   and by words and amounts 4; the attention list 2; live updates 3; compressed storage of events 1; explorers, deliveries of an event and reverted
 *   decisions 1; parsing of typed amounts 1; keys that applications ask for 2; networks on which an address may also be used 1; readiness to be paid
 *   3; live updates that begin without a full reload, and descriptions of routes and fields in whole sentences 1.
 * - Operations: a development server's mailbox and test chain 1; set-up link, operators and closed sign-up 4; key derivation and rotation 5;
 *   Turnstile 3; status reports and switches 6; nightly exports 4; restores 10, and running them before everything else 1; Durable Objects of the
 *   previous release and named faults 1; one budget for the search for private keys, and a count of refused credentials 1; a recent factor for
 *   changes that weaken a protection 1; sources that operators see and try 4; alerts by webhook, and the proof that alerts arrive 3.
 * - Payments: the current state of the chain 1; statement budgets, and transfers beyond the daily limit 4; spenders of inputs, and miners' rewards 1;
 *   growth of a balance over replaced blocks 1; all currencies of the world, with a second source 1; three rollups and their test networks 1;
 *   recommendations about wrong payments, and what payers see of them 4; returned payments 1; many invoices credited in one batch 1; late payments at
 *   the locked price 1; creates answered within three seconds 1.
 * - Payer's page: a transaction that the payer names 4; the page for BTCPay Server's plugins 1, and the API for them 9; the last page shown, while
 *   the database is unavailable 1; a browser wallet's transfer that the server does not confirm 1; marks, amounts, times and fees of coins 2;
 *   payments that await the merchant's decision 1, and folding what to send meanwhile, transactions that are not found for long, the deadline of the
 *   remaining amount and networks without a source 2.
 * The reference, the console, and the checkout's script and style are static assets.
 */
export const CEILING_GZIP_KIB = 675;

export async function size(context: Context): Promise<Outcome> {
  context.progress("bundling the product and its libraries");
  const product = await bundleWorker({ file: "src/app/worker.ts" });
  const libraries = await bundleWorker({ text: librariesEntry() });
  return {
    figures: [
      {
        what: "bundle, gzip",
        baseline: `the bound of ${MAX_GZIP_KIB} KiB`,
        ratio: exactly(product.gzipBytes / (MAX_GZIP_KIB * 1_024)),
        target: { atMost: 1 },
        measured: kib(product.gzipBytes),
      },
      {
        what: "bundle, gzip",
        baseline: "the libraries alone",
        ratio: exactly(product.gzipBytes / libraries.gzipBytes),
        measured: `${kib(product.gzipBytes)} against ${kib(libraries.gzipBytes)}`,
      },
    ],
    listings: [
      {
        title: `Bundle by library (minified ${kib(Buffer.byteLength(product.code))}, gzip ${kib(product.gzipBytes)})`,
        columns: ["library", "minified KiB", "of the bundle"],
        rows: libraryRows(product),
      },
    ],
  };
}

function libraryRows(bundle: Bundle): string[][] {
  const libraries = bytesByLibrary(bundle.metafile);
  const total = libraries.reduce((sum, [, bytes]) => sum + bytes, 0);
  return libraries.map(([name, bytes]) => [
    name,
    (bytes / 1_024).toFixed(1),
    `${((bytes / total) * 100).toFixed(0)} %`,
  ]);
}

/** A figure that is the same in every round. */
function exactly(ratio: number): Spread {
  return { median: ratio, low: ratio, high: ratio };
}

function kib(bytes: number): string {
  return `${(bytes / 1_024).toFixed(1)} KiB`;
}

const IMPORT = /^import (type )?([^"';]+) from "([^".][^"]*)";/gm;
const LAZY_IMPORT = /\bawait import\("([^".][^"]*)"\)/g;
const REEXPORT = /^export (type )?(\{[^}]+\}) from "([^".][^"]*)";/gm;

/**
 * The source of a module that re-exports exactly what src imports from packages. It is generated from src, so it cannot go stale. From a namespace
 * import (`import * as z`) it takes the members used in the file. Dynamic imports in src are dynamic here too.
 */
export function librariesEntry(): string {
  const names = new Map<string, Set<string>>();
  const lazy = new Set<string>();
  const add = (pkg: string, name: string) => names.set(pkg, (names.get(pkg) ?? new Set()).add(name));
  for (const file of globSync("src/**/*.{ts,tsx}").filter((path) => !path.endsWith(".d.ts"))) {
    const text = readFileSync(file, "utf8");
    for (const [, pkg = ""] of text.matchAll(LAZY_IMPORT)) lazy.add(pkg);
    for (const [, isType, clause = "", pkg = ""] of [...text.matchAll(IMPORT), ...text.matchAll(REEXPORT)]) {
      if (isType !== undefined || pkg.startsWith("cloudflare:") || pkg.startsWith("node:")) continue;
      for (const name of importedNames(clause, text)) add(pkg, name);
    }
  }
  const imports: string[] = [];
  const kept: string[] = [];
  for (const [pkg, each] of names) {
    const locals = [...each].map((name) => {
      const local = `kept${kept.length}`;
      kept.push(local);
      return `${name} as ${local}`;
    });
    imports.push(`import { ${locals.join(", ")} } from "${pkg}";`);
  }
  const later = [...lazy].map((pkg) => `() => import("${pkg}")`);
  return `${imports.join("\n")}\nglobalThis.kept = [${[...kept, ...later].join(", ")}];`;
}

/**
 * The names that a clause imports: `{ a, type B, c as d }` gives a and c, `* as z` gives the members used as `z.member(` or `z.member.`, and a plain
 * name gives the default export.
 */
function importedNames(clause: string, text: string): string[] {
  const namespace = /^\* as (\w+)$/.exec(clause.trim())?.[1];
  if (namespace !== undefined) {
    const members = text.matchAll(new RegExp(`\\b${namespace}\\.([a-z]\\w*)[(.]`, "g"));
    return [...members].flatMap(([, member]) => member ?? []).filter((member) => member !== "core");
  }
  const braces = /\{([^}]*)\}/.exec(clause)?.[1];
  if (braces === undefined) return ["default"];
  return braces
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "))
    .flatMap((name) => name.split(/\s+as\s+/)[0] ?? []);
}
