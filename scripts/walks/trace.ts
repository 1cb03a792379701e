// Records which functions of src run, in order. While Node loads a file, a call is inserted at the beginning of each function; nothing else
// changes. Code that runs during loading is recorded too, so a walk begins after everything is loaded.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAst } from "vitest/node";

/** One function in src; an anonymous one has the name of the enclosing function or constant. */
interface Traced {
  /** The path below the root of the repository, with `/` as the separator. */
  readonly file: string;
  readonly name: string;
}

/** The functions that ran, in order, once for each call. */
export type Trace = readonly Traced[];

interface Insertion {
  readonly at: number;
  readonly text: string;
}

type Note = (index: number) => void;
type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<Record<string, unknown>>;

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

export class Tracer {
  readonly #functions: Traced[] = [];
  #trace: Traced[] | undefined;

  /** Must run before the first import of a file of src. */
  constructor() {
    Object.assign(globalThis, { noteCall: ((index) => this.#note(index)) satisfies Note });
    registerHooks({
      load: (url, context, next) => {
        const file = url.startsWith("file:") ? relative(process.cwd(), fileURLToPath(url)).replaceAll("\\", "/") : "";
        const loaded = next(url, context);
        if (!/^src\/.*\.ts$/.test(file)) return loaded;
        return { ...loaded, source: this.#instrumented(file, readFileSync(fileURLToPath(url), "utf8")) };
      },
    });
  }

  /** Runs `work`, which must await everything that it starts. */
  async of<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly trace: Trace }> {
    const trace: Traced[] = [];
    this.#trace = trace;
    try {
      return { result: await work(), trace };
    } finally {
      this.#trace = undefined;
    }
  }

  #note(index: number): void {
    const traced = this.#functions[index];
    if (traced !== undefined) this.#trace?.push(traced);
  }

  #instrumented(file: string, source: string): string {
    const insertions: Insertion[] = [];
    const visit = (node: Node, around: string): void => {
      for (const child of childrenOf(node)) {
        const isFunction = FUNCTIONS.has(child.type);
        const name = isFunction ? (ownName(child) ?? nameFrom(node, child) ?? around) : around || constantName(child);
        if (isFunction) insertions.push(...noted(child, this.#functions.push({ file, name }) - 1));
        visit(child, name);
      }
    };
    visit(parsed(source), "");
    const sorted = insertions.toSorted((a, b) => b.at - a.at);
    return sorted.reduce((text, { at, text: added }) => text.slice(0, at) + added + text.slice(at), source);
  }
}

function parsed(source: string): Node {
  const program: unknown = parseAst(source, { lang: "ts" });
  if (!isNode(program)) throw new Error("no syntax tree");
  return program;
}

/** The inserted call at the beginning of a function. */
function noted({ body }: Node, index: number): readonly Insertion[] {
  if (!isNode(body)) return [];
  const call = `noteCall(${index})`;
  if (body.type === "BlockStatement") return [{ at: body.start + 1, text: `${call};` }];
  return [
    { at: body.start, text: `(${call},` },
    { at: body.end, text: ")" },
  ];
}

function ownName({ id }: Node): string | undefined {
  return isNode(id) ? textOf(id) : undefined;
}

/** The name of a module constant, for functions inside its value. */
function constantName(node: Node): string {
  return node.type === "VariableDeclarator" ? (ownName(node) ?? "") : "";
}

/** The name that a variable or member gives to its function. */
function nameFrom(holder: Node, held: Node): string | undefined {
  if (holder.init !== held && holder.value !== held) return undefined;
  const named = holder.id ?? holder.key;
  return isNode(named) ? textOf(named) : undefined;
}

function textOf({ type, name }: Node): string | undefined {
  if (typeof name !== "string") return undefined;
  return type === "PrivateIdentifier" ? `#${name}` : name;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

function childrenOf(node: Node): readonly Node[] {
  return Object.values(node).flat().filter(isNode);
}
