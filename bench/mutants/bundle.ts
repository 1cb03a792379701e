// A simulator as one file, with one file of src changed. Loading a bundle takes a quarter of a CPU second; loading its modules one by one takes more
// than one.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { TEXT_FILE } from "../../scripts/text-modules.ts";
import { WORKERS_RUNTIME } from "./hooks.ts";
import { mocksOf } from "./mocks.ts";

const REAL = "?real";
/** The last thing a simulator prints is its CPU seconds. */
export const CPU_MARK = "CPU seconds: ";

export interface Replaced {
  /** The path below the root. */
  readonly file: string;
  readonly text: string;
}

export async function bundleSimulator(
  root: string,
  simulator: string,
  outfile: string,
  replaced?: Replaced,
): Promise<void> {
  const harness = join(root, "bench/mutants/harness.ts");
  await build({
    stdin: { contents: entryOf(harness, join(root, simulator)), resolveDir: root, loader: "ts" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    outfile,
    logLevel: "error",
    conditions: ["edgetill-source"],
    // Packages that are not ES modules call require() for Node's own modules.
    banner: {
      js: `import { createRequire } from "node:module"; const require = createRequire(${JSON.stringify(harness)});`,
    },
    plugins: [ownModules(root, simulator, harness, replaced)],
  });
}

function entryOf(harness: string, simulator: string): string {
  return `import { runTests } from ${JSON.stringify(harness)};
    import ${JSON.stringify(simulator)};
    const failed = await runTests();
    if (failed !== undefined) {
      const text = failed.error instanceof Error ? failed.error.message : String(failed.error);
      process.stderr.write(failed.name + ": " + text + "\\n");
    }
    const { user, system } = process.cpuUsage();
    process.stderr.write("${CPU_MARK}" + (user + system) / 1e6 + "\\n", () => process.exit(failed === undefined ? 0 : 1));`;
}

function ownModules(root: string, simulator: string, harness: string, replaced: Replaced | undefined): Plugin {
  const mocks = new Map(mocksOf(join(root, simulator)).map((mock) => [fileURLToPath(mock.url), mock]));
  const mutated = replaced === undefined ? undefined : join(root, replaced.file);
  return {
    name: "own-modules",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^vitest$/ }, ({ importer }) =>
        importer === harness
          ? { path: pathToFileURL(join(root, "node_modules/vitest/dist/index.js")).href, external: true }
          : { path: harness },
      );
      onResolve({ filter: /^cloudflare:workers$/ }, () => ({ path: join(root, WORKERS_RUNTIME) }));
      onResolve({ filter: /\?real$/ }, ({ path }) => ({
        path: fileURLToPath(path.replace(REAL, "")),
        namespace: "real",
      }));
      onLoad({ filter: TEXT_FILE }, ({ path }) => ({ contents: readFileSync(path, "utf8"), loader: "text" }));
      onLoad({ filter: /\.ts$/, namespace: "real" }, ({ path }) => ({
        contents: textOf(path),
        loader: "ts",
        resolveDir: join(path, ".."),
      }));
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const mock = mocks.get(path);
        if (mock !== undefined)
          return { contents: mock.source(`${pathToFileURL(path).href}${REAL}`), loader: "js", resolveDir: root };
        return path === mutated ? { contents: textOf(path), loader: "ts" } : undefined;
      });
      const textOf = (path: string): string =>
        path === mutated && replaced !== undefined ? replaced.text : readFileSync(path, "utf8");
    },
  };
}
