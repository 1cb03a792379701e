// The few functions of vitest that simulators call, for one file in a bare process, because starting vitest takes longer than most mutants survive.
// Tests run one after another, and the first one that fails ends the process.
import { expect } from "vitest";

type Body = (...values: readonly unknown[]) => unknown;
type Options = number | { readonly timeout?: number };
type Test = { readonly name: string; readonly run: () => unknown };

const tests: Test[] = [];
const before: (() => unknown)[] = [];
const after: (() => unknown)[] = [];
const outer: string[] = [];

function add(name: string, run: () => unknown): void {
  tests.push({ name: [...outer, name].join(" > "), run });
}

/** The test's body. vitest accepts options before or after it, but this harness ignores them. */
const bodyOf = (parts: readonly (Body | Options | undefined)[]): Body => {
  const body = parts.find((part) => typeof part === "function");
  if (body === undefined) throw new Error("a test without a body");
  return body;
};

const valuesOf = (row: unknown): readonly unknown[] => (Array.isArray(row) ? row : [row]);

function eachOf(make: (name: string, run: () => unknown) => void) {
  return (rows: readonly unknown[]) =>
    (name: string, ...parts: (Body | Options)[]) => {
      const body = bodyOf(parts);
      for (const [at, row] of rows.entries()) make(`${name} [${at}]`, () => body(...valuesOf(row)));
    };
}

function group(name: string, run: () => unknown): void {
  outer.push(name);
  run();
  outer.pop();
}

export const it = Object.assign((name: string, ...parts: (Body | Options)[]) => add(name, bodyOf(parts)), {
  each: eachOf(add),
});
export const describe = Object.assign(group, { each: eachOf(group) });
export const test = it;
export const beforeAll = (run: () => unknown): void => void before.push(run);
export const afterEach = (run: () => unknown): void => void after.push(run);
/** Modules are replaced where they are loaded (hooks.ts). */
export const vi = { mock: (): void => {} };
export { expect };

interface Failed {
  readonly name: string;
  readonly error: unknown;
}

/** The name and error of the first failing test; no later test runs unless `goesOn`. */
export async function runTests({ goesOn = false } = {}): Promise<Failed | undefined> {
  let failed = await failureOf({ name: "beforeAll", run: () => inOrder(before) });
  for (const each of tests) {
    if (failed !== undefined && !goesOn) break;
    const own = await failureOf(each);
    failed ??= own;
  }
  return failed;
}

async function failureOf({ name, run }: Test): Promise<Failed | undefined> {
  try {
    await run();
    await inOrder(after);
    return undefined;
  } catch (error) {
    return { name, error };
  }
}

async function inOrder(all: readonly (() => unknown)[]): Promise<void> {
  for (const run of all) await run();
}
