// Loads a simulator in a bare process: types are stripped in place, so that offsets match the sources, and `vitest` is harness.ts.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { TEXT_FILE, textModule } from "../../scripts/text-modules.ts";
import { type Mock, mocksOf } from "./mocks.ts";

interface Loading {
  readonly root: string;
  /** Caches stripped sources for the next process. */
  readonly cache: string;
  /** The simulator, below the root. */
  readonly entry: string;
}

const REAL = "?real";
/** The file that replaces the module `cloudflare:workers`, below the root. */
export const WORKERS_RUNTIME = "test/simulation/engine/workers-runtime.ts";

export function loadBy({ root, cache, entry }: Loading): void {
  mkdirSync(cache, { recursive: true });
  const entryFile = join(root, entry);
  const harness = pathToFileURL(join(root, "bench/mutants/harness.ts")).href;
  const runtime = pathToFileURL(join(root, WORKERS_RUNTIME)).href;
  const mocks = new Map<string, Mock>(mocksOf(entryFile).map((mock) => [mock.url, mock]));
  registerHooks({
    resolve(specifier, context, next) {
      const isHarness = context.parentURL === harness;
      if (specifier === "vitest" && !isHarness) return { url: harness, shortCircuit: true };
      if (specifier === "cloudflare:workers") return { url: runtime, shortCircuit: true };
      return next(specifier, context);
    },
    load(url, context, next) {
      const mock = mocks.get(url);
      if (mock !== undefined) return { format: "module", source: mock.source(`${url}${REAL}`), shortCircuit: true };
      if (!url.startsWith("file:")) return next(url, context);
      const file = fileURLToPath(url.replace(REAL, ""));
      if (TEXT_FILE.test(file)) return { format: "module", source: textModule(file), shortCircuit: true };
      if (!file.endsWith(".ts")) return next(url, context);
      return { format: "module", source: stripped(file, cache), shortCircuit: true };
    },
  });
}

function stripped(file: string, cache: string): string {
  const text = readFileSync(file, "utf8");
  const kept = join(cache, createHash("sha256").update(text).digest("hex"));
  if (existsSync(kept)) return readFileSync(kept, "utf8");
  const source = withoutWarning(() => stripTypeScriptTypes(text));
  writeFileSync(kept, source);
  return source;
}

/** Node warns in each process that stripping is experimental. */
function withoutWarning<T>(work: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
