// Keeps back what servers and libraries print about failures that tests cause on purpose: thousands of such lines would hide the real failures. If
// anything fails, all of them are written to a file.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

const HELD_FILE = ".edgetill/held-back.txt";

/** Each pattern matches a whole message of workerd, miniflare or Vite that no setting turns off. */
const EXPECTED: readonly RegExp[] = [
  // In these tests receivers and sources refuse connections or drop them. The Worker handles the rejected fetch, but workerd logs it again, and
  // miniflare's worker for outgoing requests does not catch it.
  /^exception = rust\/worker\/ffi\.rs:\d+: disconnected: (Connection refused|HTTP body: |client error )[^\n]*(\nstack: [^\n]*)?\n$/,
  /^uncaught exception; source = Uncaught \(in promise\); stack = Error: Network connection lost\.\n$/,
  /^uncaught exception; exception = workerd\/jsg\/[^\n]*: jsg\.Error: Network connection lost\.(\nstack: [^\n]*)?\n$/,
  // All objects are deleted between two files (migrate.ts), including those of D1 and those whose alarm is running. Some tests abort objects.
  /^exception = workerd\/[^\n]*: Application called (?:abort|delete)AllDurableObjects\(\)\.(\nstack: [^\n]*)?\n$/,
  /^uncaught exception; exception = workerd\/[^\n]*: Application called (?:abort|delete)AllDurableObjects\(\)\.(\nstack: [^\n]*)?\n$/,
  /^uncaught exception; source = Uncaught \(in promise\); stack = Error: Application called (?:abort|delete)AllDurableObjects\(\)\.(\n +at [^\n]*miniflare[^\n]*)*\n$/,
  // Two packages publish source maps without the sources.
  /^Sourcemap for "[^"\n]*\/node_modules\/[^"\n]*" points to missing source files\n$/,
];

export function isExpectedNoise(message: string): boolean {
  const text = message.replace(ESCAPES, "");
  return EXPECTED.some((each) => each.test(text));
}

/** Terminal colour codes. */
const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

export default class ExpectedNoise implements Reporter {
  readonly #held: string[] = [];

  onInit(): void {
    for (const stream of [process.stdout, process.stderr]) this.#holdBackIn(stream);
  }

  onTestRunEnd(_: readonly TestModule[], errors: readonly unknown[], reason: string): void {
    if (reason === "passed" && errors.length === 0) return;
    const held = this.#held.splice(0);
    if (held.length === 0) return;
    mkdirSync(dirname(HELD_FILE), { recursive: true });
    writeFileSync(HELD_FILE, held.join(""));
    process.stderr.write(`\n${held.length} messages that tests cause on purpose were held back: ${HELD_FILE}\n`);
  }

  #holdBackIn(stream: NodeJS.WriteStream): void {
    stream.write = new Proxy(stream.write, {
      apply: (write, _, args) => {
        const text = String(args[0]);
        if (!isExpectedNoise(text)) return Reflect.apply(write, stream, args);
        this.#held.push(text);
        return true;
      },
    });
  }
}
