// The table of architecture.md "Kinds of files" as a function of source texts: each file's kind, its imports, and the rules that it breaks. It reads
// syntax trees, so it does not mistake comments and strings for code.
import { posix } from "node:path";
import { floorOf, isAcrossFeatures } from "../../scripts/districts.ts";
import { impurities, schemasAtImport, stateProblems } from "./isolate-rules.ts";
import { casts, claims, longFile, longFunctions, type Problem, printed } from "./style-rules.ts";
import { type Node, nodes, parse, type Sources, sourceOf, visit } from "./syntax-tree.ts";

export type { Sources } from "./syntax-tree.ts";

const ALL = [
  "lib",
  "failures",
  "db",
  "rule",
  "store",
  "object",
  "client",
  "operation",
  "contract",
  "http",
  "routes",
  "browser",
  "entry",
] as const;
type Kind = (typeof ALL)[number];

/** The table's column `may import`. Kinds under `types` may be imported with `import type` only. Files of one kind may import each other. */
const MAY_IMPORT: Readonly<Record<Kind, { readonly values: readonly Kind[]; readonly types: readonly Kind[] }>> = {
  lib: { values: ["lib"], types: [] },
  failures: { values: ["lib"], types: [] },
  db: { values: ["lib", "db"], types: ["rule", "failures"] },
  rule: { values: ["lib", "failures", "rule"], types: [] },
  store: { values: ["lib", "failures", "db", "rule", "store"], types: [] },
  object: { values: ["lib", "failures", "rule", "operation", "client", "object"], types: [] },
  client: { values: ["lib", "failures", "rule", "client"], types: [] },
  operation: { values: ["lib", "failures", "db", "rule", "store", "operation"], types: ["client", "object"] },
  contract: { values: ["lib", "rule", "contract"], types: [] },
  http: { values: ["lib", "failures", "db", "http", "contract"], types: ["object"] },
  routes: {
    // Routes may import `db` because they open the database for their reads; the types of the rows belong to stores.
    values: ["lib", "failures", "db", "rule", "operation", "contract", "http", "routes"],
    types: ["store", "client", "object"],
  },
  // This code runs in a payer's browser. It must stay small, so it imports no other code of ours.
  browser: { values: ["browser"], types: [] },
  entry: { values: ALL, types: [] },
};

/**
 * Packages that do I/O or bring a framework, and the kinds that may import values from them. drizzle's types may be imported wherever statements are.
 */
const PACKAGES: readonly {
  readonly name: RegExp;
  readonly kinds: readonly Kind[];
  readonly typesIn: readonly Kind[];
}[] = [
  { name: /^cloudflare:/, kinds: ["object", "entry"], typesIn: [] },
  { name: /^drizzle-orm(\/|$)/, kinds: ["db", "store"], typesIn: ["operation", "routes"] },
  { name: /^hono(\/|$)/, kinds: ["http", "routes", "entry"], typesIn: [] },
  { name: /^@hono\//, kinds: ["http"], typesIn: [] },
  // The runtime's address arithmetic does no I/O.
  { name: /^node:net$/, kinds: ["rule"], typesIn: [] },
  { name: /^node:(?!net$)/, kinds: [], typesIn: [] },
];

/** The names of operations begin with one of these verbs. A new use case with another verb counts as a rule, and fails by its imports. */
const VERBS =
  /^(accept|activate|add|answer|ask|begin|buy|claim(?=-)|confirm|disable|enable|end|enrol|fetch|find|finish|give|link|look|open|post|prove|replace|report|revoke|scan|send|serve|start|step|store|sweep|try|unlink|upload|use|verify|wake|apply|authenticate|cancel|change|check|commit|create|credit|delete|deliver|expire|export|forget|freeze|invite|leave|list|match(?=-)|pick|preview|price(?=-)|read|recheck|record|recover|refresh|register|release|remove|replay|resend|reserve|resolve|rotate|run|settle|sign(?=-)|transfer(?=-)|update|upsert|watch)(-|$)/;

/** A file's kind by its path and name. Only a Durable Object is recognized by its content. */
export function kindOf(path: string, text: string): Kind {
  const name = posix.basename(path).replace(/\.tsx?$/, "");
  if (["worker", "app", "jobs", "merchant-object", "merchant-requests"].some((entry) => path === `src/app/${entry}.ts`))
    return "entry";
  if (path === "src/app/configuration/configuration.ts") return "rule";
  if (path === "src/platform/failures.ts") return "failures";
  if (path.startsWith("src/lib/")) return "lib";
  if (path.startsWith("src/platform/db/")) return "db";
  if (path.startsWith("src/checkout/pay/browser/")) return "browser";
  if (path.endsWith(".tsx") || ["routes", "middleware", "dependencies"].includes(name)) return "routes";
  if (path.startsWith("src/accounts/pipeline/")) return "routes";
  if (path.startsWith("src/app/") || path.startsWith("src/platform/http/")) return "http";
  if (name === "store" || name === "contract") return name;
  // The Durable Object's class, or the plain class with its logic.
  if (/\b(extends DurableObject|ObjectStorage)\b/.test(text)) return "object";
  if (name.endsWith("-client")) return "client";
  return VERBS.test(name) && !name.endsWith("-body") ? "operation" : "rule";
}

interface Import {
  readonly from: string;
  readonly isTypeOnly: boolean;
  readonly isReExportOfAll: boolean;
  readonly start: number;
}

/** Every violation of the table or the style; empty if there is none. `path:line: what`. */
export function problemsIn(sources: Sources): readonly string[] {
  return [...sources].flatMap(([path, text]) => {
    const program = parse(path, text);
    const kind = kindOf(path, text);
    const found = [
      ...importProblems(path, kind, importsOf(program), sources),
      ...claims(program),
      // Casts are allowed in ids.ts, where a string becomes a branded id.
      ...(path === "src/lib/ids.ts" ? [] : casts(program)),
      ...stateProblems(path, program),
      ...(kind === "rule" || kind === "contract" || kind === "failures" ? impurities(program) : []),
      ...schemasAtImport(program),
      ...(path.endsWith(".generated.ts") ? [] : [...longFile(text), ...longFunctions(text, program)]),
    ];
    return found.map((problem) => printed(path, text, problem));
  });
}

function importProblems(path: string, kind: Kind, imports: readonly Import[], sources: Sources): Problem[] {
  const may = MAY_IMPORT[kind];
  return imports.flatMap(({ from, isTypeOnly, isReExportOfAll, start }) => {
    if (isReExportOfAll) return [{ start, what: `re-exports all of ${from}` }];
    if (!from.startsWith(".")) return packageProblem(path, kind, { from, isTypeOnly, start });
    const target = targetOf(path, from);
    const text = sources.get(target);
    if (text === undefined) return [{ start, what: `imports ${from}, which is not there` }];
    if (isUpward(path, target)) return [{ start, what: `imports ${target}, which is in a layer above it` }];
    if (isAcrossFeatures(path, target))
      return [{ start, what: `imports ${target}, of a feature that is not below it` }];
    const targetKind = kindOf(target, text);
    if (may.values.includes(targetKind) || (isTypeOnly && may.types.includes(targetKind))) return [];
    // dependencies.ts gives a feature's operations their dependencies, clients included.
    if (posix.basename(path) === "dependencies.ts" && targetKind === "client") return [];
    // An object whose alarm runs an operation gets its dependencies from the same file as a route.
    if (kind === "object" && posix.basename(target) === "dependencies.ts") return [];
    return [{ start, what: `a ${kind} imports ${isTypeOnly ? "a type of " : ""}${target}, a ${targetKind}` }];
  });
}

/**
 * The file that a relative import names; for JavaScript generated by a script, its declaration, which always exists.
 */
function targetOf(path: string, from: string): string {
  return posix.normalize(posix.join(posix.dirname(path), from)).replace(/\.generated\.js$/, ".generated.d.ts");
}

function isUpward(path: string, target: string): boolean {
  const [from, to] = [floorOf(path), floorOf(target)];
  return from !== undefined && to !== undefined && to < from;
}

/** By file: the files of ours that it imports, types included. A file named by two imports appears twice. */
export function importsIn(sources: Sources): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...sources].map(([path, text]) => [
      path,
      importsOf(parse(path, text)).flatMap(({ from }) => {
        const target = targetOf(path, from);
        return from.startsWith(".") && sources.has(target) ? [target] : [];
      }),
    ]),
  );
}

/** The members of each import cycle, for a map as `importsIn` returns it. */
export function circlesIn(targets: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  // A file is in no cycle if it imports no remaining file, or if no remaining file imports it.
  const left = new Set(targets.keys());
  const below = (path: string) => (targets.get(path) ?? []).filter((target) => left.has(target));
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const path of left) if (below(path).length === 0) left.delete(path);
  }
  const reach = (path: string, seen = new Set<string>()): ReadonlySet<string> => {
    for (const target of below(path)) if (!seen.has(target)) reach(target, seen.add(target));
    return seen;
  };
  const circles = new Map<string, readonly string[]>();
  for (const path of left) {
    const circle = [...left].filter((other) => reach(path).has(other) && reach(other).has(path)).sort();
    if (circle.length > 0) circles.set(circle.join(" "), circle);
  }
  return [...circles.values()];
}

function packageProblem(path: string, kind: Kind, of: Pick<Import, "from" | "isTypeOnly" | "start">): Problem[] {
  const rule = PACKAGES.find(({ name }) => name.test(of.from));
  if (rule === undefined || rule.kinds.includes(kind) || (of.isTypeOnly && rule.typesIn.includes(kind))) return [];
  // The limiter is the only object in src/platform/http, because it belongs to the request pipeline and not to a feature.
  if (path === "src/platform/http/rate-limit.ts" && of.from === "cloudflare:workers") return [];
  return [{ start: of.start, what: `a ${kind} imports ${of.from}` }];
}

function importsOf(program: Node): readonly Import[] {
  const found: Import[] = [];
  visit(program, (node) => {
    const from = sourceOf(node);
    if (from === undefined) return;
    const members = nodes(node.specifiers);
    const isTypeOnly =
      node.importKind === "type" ||
      node.exportKind === "type" ||
      (members.length > 0 && members.every((each) => each.importKind === "type" || each.exportKind === "type"));
    found.push({ from, isTypeOnly, isReExportOfAll: node.type === "ExportAllDeclaration", start: node.start });
  });
  return found;
}

/** Functions and methods that are too long: `path:line: what`. */
export function longFunctionsIn(sources: Sources): readonly string[] {
  return [...sources].flatMap(([path, text]) =>
    longFunctions(text, parse(path, text)).map((problem) => printed(path, text, problem)),
  );
}
