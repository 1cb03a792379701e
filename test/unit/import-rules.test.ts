import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DISTRICTS, FEATURES, featureOf } from "../../scripts/districts.ts";
import { circlesIn, importsIn, kindOf, problemsIn } from "../support/source-rules.ts";
import type { Sources } from "../support/syntax-tree.ts";

const ROOT = join(import.meta.dirname, "../..");

function sourcesBelow(folder: string): Sources {
  const paths = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((path) => `${folder}/${path.replaceAll("\\", "/")}`)
    .filter(
      (path) => /\.(tsx?|jsonc|txt)$/.test(path) && (!path.endsWith(".d.ts") || path.endsWith(".generated.d.ts")),
    );
  // Text files import nothing.
  return new Map(
    paths.map((path) => [path, /\.(jsonc|txt)$/.test(path) ? "" : readFileSync(join(ROOT, path), "utf8")]),
  );
}

/** Test folders without a counterpart in src. "" means tests directly in the project's folder, which concern the whole repository. */
const OTHER_FOLDERS: readonly (readonly [string, readonly string[]])[] = [
  ["unit", ["", "bench", "client", "dashboard", "docs", "examples", "scripts"]],
  ["worker", ["client"]],
  ["simulation", ["engine"]],
  ["chain", ["guides"]],
];

/** The top-level folders of a project's tests; "" for tests directly in the project's folder. */
function testFolders(project: string): ReadonlySet<string> {
  const paths = readdirSync(join(ROOT, "test", project), { recursive: true, encoding: "utf8" });
  const tests = paths.filter((path) => path.endsWith(".test.ts")).map((path) => path.replaceAll("\\", "/"));
  return new Set(tests.map((path) => (path.includes("/") ? path.replace(/\/.*/, "") : "")));
}

/** Valid files, which the invented sources import. */
const HOUSE: Sources = new Map([
  ["src/lib/money.ts", "export const a = 1;"],
  ["src/platform/failures.ts", "export type Failure = 1;"],
  ["src/platform/column-values.ts", "export const a = 1;"],
  ["src/platform/db/client.ts", "export const a = 1;"],
  ["src/commerce/invoices/status.ts", "export const a = 1;"],
  ["src/commerce/invoices/store.ts", "export const a = 1;"],
  ["src/commerce/invoices/create-invoice.ts", "export const a = 1;"],
  ["src/commerce/invoices/contract.ts", "export const a = 1;"],
  ["src/platform/http/errors.ts", "export const a = 1;"],
  ["src/checkout/pay/browser/page.ts", "export const a = 1;"],
  ["src/accounts/auth/middleware.ts", "export const a = 1;"],
  ["src/rates/kraken-client.ts", "export const a = 1;"],
  ["src/chains/bitcoin/address.ts", "export const a = 1;"],
  ["src/chains/dispatch/address.ts", "export const a = 1;"],
  [
    "src/commerce/wallets/allocator.ts",
    'import { DurableObject } from "cloudflare:workers"; export class A extends DurableObject {}',
  ],
]);

function problemsOf(path: string, text: string): readonly string[] {
  return problemsIn(new Map([...HOUSE, [path, text]]));
}

describe("src", () => {
  const sources = sourcesBelow("src");

  it("imports only in the allowed directions, and follows the style rules", () => {
    expect(sources.size).toBeGreaterThan(50);
    expect(problemsIn(sources)).toEqual([]);
  });

  it("consists of ten districts, and has no import cycles, not even between types", () => {
    expect(readdirSync(join(ROOT, "src")).sort()).toEqual(DISTRICTS.map(([name]) => name).sort());
    expect(circlesIn(importsIn(sources))).toEqual([]);
  });

  it("has each feature exactly once in the list of its district", () => {
    const declared = DISTRICTS.flatMap(([name]) => FEATURES[name].flat().map((feature) => `${name}/${feature}`));
    const found = new Set([...sources.keys()].filter((path) => !path.endsWith(".d.ts")).map(featureOf));
    expect(declared.toSorted()).toEqual([...found].toSorted());
  });

  it("has files of every kind", () => {
    const kinds = new Set([...sources].map(([path, text]) => kindOf(path, text)));
    expect([...kinds].sort()).toEqual([
      "browser",
      "client",
      "contract",
      "db",
      "entry",
      "failures",
      "http",
      "lib",
      "object",
      "operation",
      "routes",
      "rule",
      "store",
    ]);
  });
});

describe("test", () => {
  it.each(OTHER_FOLDERS)(
    "has its %s tests in folders that are named after districts of src or listed here",
    (project, others) => {
      const folders = [...testFolders(project)];
      const known = new Set<string>([...DISTRICTS.map(([name]) => name), ...others]);
      expect(folders).not.toEqual([]);
      expect(folders.filter((folder) => !known.has(folder))).toEqual([]);
    },
  );
});

describe("the check of imports", () => {
  it("finds no problem in valid files", () => {
    expect(problemsIn(HOUSE)).toEqual([]);
  });

  const forbidden: readonly [string, string, string][] = [
    ["a lib file that imports a district", "src/lib/x.ts", 'import { a } from "../commerce/invoices/status.ts";'],
    ["a rule with SQL", "src/commerce/invoices/price.ts", 'import { a } from "./store.ts";'],
    ["a rule with the type of a store", "src/commerce/invoices/price.ts", 'import type { a } from "./store.ts";'],
    [
      "a rule over several lines with SQL",
      "src/commerce/invoices/price.ts",
      'import {\n  type b,\n  a,\n} from "./store.ts";',
    ],
    ["a rule that imports an operation", "src/commerce/invoices/price.ts", 'import { a } from "./create-invoice.ts";'],
    [
      "a store that imports an operation",
      "src/commerce/wallets/store.ts",
      'import { a } from "../invoices/create-invoice.ts";',
    ],
    ["an operation with a value of a client", "src/rates/refresh-rates.ts", 'import { a } from "./kraken-client.ts";'],
    [
      "an operation with a value of an object",
      "src/commerce/wallets/add-wallet.ts",
      'import { A } from "./allocator.ts";',
    ],
    [
      "an operation that uses HTTP",
      "src/commerce/wallets/add-wallet.ts",
      'import { a } from "../../platform/http/errors.ts";',
    ],
    [
      "an object with SQL of D1",
      "src/commerce/wallets/book.ts",
      'import { a } from "../invoices/store.ts"; class A extends DurableObject {}',
    ],
    ["a client with SQL", "src/rates/x-client.ts", 'import { a } from "../platform/db/client.ts";'],
    [
      "a contract with a failure",
      "src/commerce/wallets/contract.ts",
      'import type { Failure } from "../../platform/failures.ts";',
    ],
    [
      "a contract that builds a schema at import",
      "src/commerce/wallets/contract.ts",
      'import * as z from "zod"; export const a = z.object({});',
    ],
    ["http with a feature", "src/platform/http/health.ts", 'import { a } from "../../commerce/invoices/status.ts";'],
    ["routes with a store", "src/commerce/wallets/routes.ts", 'import { a } from "../invoices/store.ts";'],
    ["routes with a client", "src/commerce/wallets/routes.ts", 'import { a } from "../../rates/kraken-client.ts";'],
    ["a table with a value of a rule", "src/platform/db/schema/x.ts", 'import { a } from "../../column-values.ts";'],
    ["a re-export upwards", "src/lib/x.ts", 'export { a } from "../commerce/invoices/status.ts";'],
    ["a dynamic import", "src/lib/x.ts", 'export const f = () => import("../commerce/invoices/status.ts");'],
    ["an inline type import", "src/lib/x.ts", 'export type A = import("../commerce/invoices/status.ts").A;'],
    ["a barrel", "src/commerce/invoices/index.ts", 'export * from "./status.ts";'],
    ["a file that does not exist", "src/lib/x.ts", 'import { a } from "./y.ts";'],
    ["a rule that imports the platform", "src/commerce/invoices/price.ts", 'import { env } from "cloudflare:workers";'],
    ["a rule that imports the SQL builder", "src/commerce/invoices/price.ts", 'import { sql } from "drizzle-orm";'],
    ["an operation that builds SQL", "src/commerce/invoices/create-x.ts", 'import { sql } from "drizzle-orm";'],
    ["a rule that imports the web framework", "src/commerce/invoices/price.ts", 'import { Hono } from "hono";'],
    ["a rule with code of the payer's browser", "src/checkout/pay/x.ts", 'import { a } from "./browser/page.ts";'],
    [
      "code of the payer's browser with a rule",
      "src/checkout/pay/browser/x.ts",
      'import { a } from "../../../commerce/invoices/status.ts";',
    ],
    [
      "a type of a feature above, in the same district",
      "src/commerce/amounts/price.ts",
      'import type { a } from "../invoices/status.ts";',
    ],
    ["a feature at the same level", "src/chains/evm/x.ts", 'import { a } from "../bitcoin/address.ts";'],
    ["a feature above, in the same district", "src/chains/evm/x.ts", 'import { a } from "../dispatch/address.ts";'],
    ["a type of a district above", "src/rates/quote.ts", 'import type { a } from "../commerce/invoices/status.ts";'],
    ["Node's own modules", "src/lib/x.ts", 'import { readFileSync } from "node:fs";'],
  ];
  it.each(forbidden)("refuses %s", (_, path, text) => {
    expect(problemsOf(path, text)).toHaveLength(1);
    expect(problemsOf(path, text)[0]).toContain(`${path}:1: `);
  });

  it("finds every cycle, and leaves out files that only import a cycle or are imported by one", () => {
    const one = ["src/lib/a.ts", 'import type { b } from "./b.ts";'] as const;
    const two = ["src/lib/b.ts", 'import { c } from "./c.ts"; import { d } from "./d.ts";'] as const;
    const three = ["src/lib/c.ts", 'export { a } from "./a.ts";'] as const;
    const others = [
      ["src/lib/d.ts", "export const d = 1;"],
      ["src/lib/e.ts", 'import { a } from "./a.ts";'],
    ] as const;
    expect(circlesIn(importsIn(new Map([one, two, three, ...others])))).toEqual([
      ["src/lib/a.ts", "src/lib/b.ts", "src/lib/c.ts"],
    ]);
    expect(circlesIn(importsIn(new Map([one, two, ...others])))).toEqual([]);
  });

  const style: readonly [string, string][] = [
    ["any", "export const a: any = 1;"],
    ["any as a member of a type", "export type A = readonly any[];"],
    ["a non-null assertion", "export const f = (a?: string) => a!.length;"],
    ["a definite assignment assertion", "export function f() { let a!: string; return a; }"],
    ["a cast", "export const a = 1 as unknown;"],
    ["a cast in angle brackets", "export const a = <unknown>1;"],
    ["a variable at module scope", "let count = 0; export const f = () => count;"],
    ["an exported variable at module scope", "export let count = 0;"],
    ["a cache at module scope", "const seen = new Map<string, number>(); export const f = () => seen.set('a', 1);"],
    ["a set that grows", "const seen = new Set<string>(); export const f = () => seen.add('a');"],
    ["a list that grows", "const seen: string[] = []; export const f = () => seen.push('a');"],
    ["a member of a constant that changes", "const state = { n: 0 }; export const f = () => { state.n = 1; };"],
    ["a counter in a member of a constant", "const state = { n: 0 }; export const f = () => state.n++;"],
    ["a clock at import", "export const STARTED = Date.now();"],
    ["randomness at import", "export const SALT = [Math.random()];"],
    ["a file of 351 lines", "export const a = 1;\n".repeat(351)],
    ["a function of 61 lines", `export function f() {${"\n".repeat(60)}}`],
    ["a method of 61 lines", `export const a = { f() {${"\n".repeat(60)}} };`],
  ];
  it.each(style)("refuses %s in a file of any kind", (_, text) => {
    expect(problemsOf("src/platform/http/x.ts", text)).toHaveLength(1);
    expect(problemsOf("src/commerce/invoices/create-x.ts", text)).not.toEqual([]);
  });

  const impure: readonly [string, string][] = [
    ["the clock", "export const f = () => Date.now();"],
    ["the clock as a date", "export const f = () => new Date();"],
    ["a random number", "export const f = () => Math.random();"],
    ["random bytes", "export const f = () => crypto.getRandomValues(new Uint8Array(1));"],
    ["a fetch", 'export const f = () => fetch("https://example.com");'],
    ["a timer", "export const f = () => setTimeout(() => {}, 1);"],
    ["the whole environment", "export const f = (env: Env) => env;"],
  ];
  it.each(impure)("refuses %s in a rule, and allows it in dependencies.ts", (_, text) => {
    expect(problemsOf("src/commerce/invoices/price.ts", text)).toHaveLength(1);
    expect(problemsOf("src/commerce/invoices/dependencies.ts", text)).toEqual([]);
  });

  const allowed: readonly [string, string, string][] = [
    ["a rule of a feature below", "src/commerce/restores/price.ts", 'import { a } from "../invoices/status.ts";'],
    [
      "a client in dependencies.ts",
      "src/commerce/wallets/dependencies.ts",
      'import { a } from "../../rates/kraken-client.ts";',
    ],
    ["a type of a rule in a table", "src/platform/db/schema/x.ts", 'import type { A } from "../../column-values.ts";'],
    [
      "types among named imports",
      "src/platform/db/schema/x.ts",
      'import { type A, type B } from "../../column-values.ts";',
    ],
    [
      "a type of an object in an operation",
      "src/commerce/wallets/add-x.ts",
      'import type { A } from "./allocator.ts";',
    ],
    [
      "a type of drizzle in an operation",
      "src/commerce/wallets/add-x.ts",
      'import type { B } from "drizzle-orm/batch";',
    ],
    [
      "forbidden words in comments and strings",
      "src/lib/x.ts",
      '// as any! let x\nexport const a = "let x = y as any";',
    ],
    ["as const, and aliases", "src/lib/x.ts", 'import { a as b } from "./money.ts";\nexport const c = [b] as const;'],
    [
      "a constant set",
      "src/lib/x.ts",
      'const KNOWN: ReadonlySet<string> = new Set(["a"]);\nexport const f = () => KNOWN.has("a");',
    ],
    [
      "a map inside a function",
      "src/lib/x.ts",
      'export function f() { const m = new Map(); m.set("a", 1); let n = 0; return [m, ++n]; }',
    ],
    [
      "a changing member of a constant in browser code, where each page has its own",
      "src/checkout/pay/browser/x.ts",
      "const state = { n: 0 }; export const f = () => { state.n = 1; };",
    ],
    ["a Date made from a given time", "src/lib/x.ts", "export const f = (ms: number) => new Date(ms);"],
    ["a file of 350 lines", "src/lib/x.ts", "export const a = 1;\n".repeat(350)],
    ["a function of 60 lines", "src/lib/x.ts", `export const f = () => {${"\n".repeat(59)}};`],
    [
      "a schema that is built on demand",
      "src/commerce/wallets/contract.ts",
      'import * as z from "zod"; export const a = () => z.object({});',
    ],
  ];
  it.each(allowed)("allows %s", (_, path, text) => {
    expect(problemsOf(path, text)).toEqual([]);
  });
});
