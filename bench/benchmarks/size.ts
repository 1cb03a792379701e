// Bundle size: the minified Worker, compressed as it is uploaded, against only its imported libraries.
import { globSync, readFileSync } from "node:fs";
import { type Bundle, bundleWorker, bytesByLibrary } from "../bundle.ts";
import type { Context } from "../context.ts";
import type { Outcome } from "../report.ts";
import type { Spread } from "../statistics.ts";

/** performance.md: the limit including everything. */
const MAX_GZIP_KIB = 1_024;
/**
 * What a test holds the bundle to: it falls with what is saved, and rises only with what a release adds by name. Watching
 * chains is 40 KiB of it and delivering events 17; the checkout is another 57: its texts in ten languages 25, codes 6. Quotes with a history,
 * progress of each address, and coins that contracts send are another 17. The libraries of keys, addresses, call data and decimals are 42 more
 * than what was written by hand before, and @simplewebauthn/server, which is loaded with the first passkey and reads no certificates, 64. The
 * groups of creates in the merchant's object, the proof in API keys and the location of objects are another 4, allocators
 * of amounts 1, reports of totals 3, exports 3, the search 2, what needs a person 2,
 * live updates for a team 3, events that are stored deflated 1, the
 * mailbox and the test chain of a development server 1, explorers, deliveries of an event and decisions taken back 1, forms
 * in the merchant's object below 1, the set-up with its link, operators and closed sign-up 4, keys derived, renewed and retired 5, Turnstile 3,
 * @modelcontextprotocol/server 66, what a deployment
 * reports about itself to monitors, operators and the log, and its switches 6, exports at night 4, restores 10, what a
 * payer's page says about a named transaction 4, words and amounts to search for 4, amounts as they are typed 1, what the chain says now 1, budgets of
 * statements and what nobody is shown 4, who spent an input and what a miner pays himself 1, a restore that nothing runs ahead of 1, objects of the
 * previous release and faults by name 1, one budget for the search for private keys and a count of refused credentials 1, what weakens a
 * protection 1, a key for every change and one budget for exports 1, growth of a balance over
 * replaced blocks 1, all currencies of the world, with a second source for them, 1, keys that applications ask for 2,
 * three rollups and their test networks 1, the payer's page for plugins of BTCPay Server 1,
 * the API that shop plugins of BTCPay Server call 9, on which other networks an address may be used 1, creates answered within three seconds 1, what a browser was shown while the database is away 1,
 * what a payer reads when a wallet's transfer is not confirmed 1, marks, amounts, times and fees of coins on the payer's first page 2, what is advised about wrong
 * payments, and what their payers see, 4, whether a merchant can be paid now and why not 3, what was sent back 1,
 * many invoices credited in one batch 1. The reference, the console, and the checkout's script and style are static assets.
 */
export const CEILING_GZIP_KIB = 663;

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
 * A module that keeps exactly what src imports from packages, read from src itself, so it cannot go stale. From a namespace
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

/** `{ a, type B, c as d }` gives a, c; `* as z` the members used as `z.member(` or `z.member.`; a plain name the default export. */
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
