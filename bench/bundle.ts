// Bundles a worker like `wrangler deploy --minify`: for workerd's conditions, without the runtime's own modules.
import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Metafile, type Plugin } from "esbuild";
import { makeMcpLibrary } from "../scripts/mcp-library.ts";
import { TEXT_FILE } from "../scripts/text-modules.ts";

/** wrangler keeps function names unless told otherwise. */
const DROPS_NAMES = /^keep_names *= *false/m;
/** A line of `[alias]`: a package, and the file that replaces it. No other line of wrangler.toml names a source in this form. */
const ALIAS = /^"(.+)" = "(\.\/src\/.+\.ts)"$/gm;

/** A text module: uploaded next to the code and imported by path. */
export interface TextModule {
  readonly path: string;
  readonly contents: string;
}

export interface Bundle {
  readonly code: string;
  /** JSON; empty unless the bundle is for a profile. */
  readonly sourceMap: string;
  readonly texts: readonly TextModule[];
  /** Gzipped size of the code and the texts. */
  readonly gzipBytes: number;
  readonly metafile: Metafile;
}

/** The entry point: a file of the repository, or source text whose imports are resolved from the repository's root. */
export type Entry = { readonly file: string } | { readonly text: string };

/** V8 attributes the time of JSON.parse and JSON.stringify to their caller; as functions of the bundle they appear under their own names. */
const PROFILED_JSON = `
function jsonParse(...args) { return JSON.parse(...args); }
function jsonStringify(...args) { return JSON.stringify(...args); }
`;

/** `isProfiled` leaves the code readable and gives JSON's functions names. For any other measurement the code is minified. */
export async function bundleWorker(entry: Entry, isProfiled = false): Promise<Bundle> {
  await makeMcpLibrary();
  const configuration = readFileSync("wrangler.toml", "utf8");
  const texts: TextModule[] = [];
  const built = await build({
    ...("file" in entry
      ? { entryPoints: [entry.file] }
      : { stdin: { contents: entry.text, resolveDir: process.cwd(), loader: "ts" } }),
    bundle: true,
    write: false,
    outfile: "worker.js",
    format: "esm",
    target: "es2024",
    supported: { using: true },
    minify: !isProfiled,
    sourcemap: isProfiled ? "external" : false,
    banner: { js: isProfiled ? PROFILED_JSON : "" },
    keepNames: !DROPS_NAMES.test(configuration),
    alias: Object.fromEntries([...configuration.matchAll(ALIAS)].map(([, name, file]) => [name, file])),
    metafile: true,
    conditions: ["workerd", "worker", "browser"],
    define: {
      "navigator.userAgent": '"Cloudflare-Workers"',
      "process.env.NODE_ENV": '"production"',
      "global.process.env.NODE_ENV": '"production"',
      "globalThis.process.env.NODE_ENV": '"production"',
      ...(isProfiled ? { "JSON.parse": "jsonParse", "JSON.stringify": "jsonStringify" } : {}),
    },
    external: ["node:*", "cloudflare:*"],
    plugins: [keepingTexts(texts)],
    logLevel: "silent",
  });
  const textOf = (ending: string) => built.outputFiles.find(({ path }) => path.endsWith(ending))?.text;
  const code = textOf(".js");
  if (code === undefined) throw new Error("esbuild wrote no bundle");
  const parts = [code, ...texts.map(({ contents }) => contents)];
  const gzipBytes = parts.reduce((sum, part) => sum + gzipSync(part, { level: 9 }).length, 0);
  return { code, sourceMap: textOf(".js.map") ?? "", texts, gzipBytes, metafile: built.metafile };
}

/** Leaves imports of text files in the code, and collects the paths of these files. */
function keepingTexts(texts: TextModule[]): Plugin {
  return {
    name: "texts",
    setup: (build) => {
      build.onResolve({ filter: TEXT_FILE }, ({ path, resolveDir }) => {
        const name = basename(path);
        texts.push({ path: name, contents: readFileSync(resolve(resolveDir, path), "utf8") });
        return { path: `./${name}`, external: true };
      });
    },
  };
}

/** Minified bytes of each package in a bundle, largest first; our own sources count as "edgetill". */
export function bytesByLibrary(metafile: Metafile): readonly (readonly [string, number])[] {
  const totals = new Map<string, number>();
  for (const output of Object.values(metafile.outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      const library = libraryOf(path);
      totals.set(library, (totals.get(library) ?? 0) + bytesInOutput);
    }
  }
  return [...totals].sort(([, a], [, b]) => b - a);
}

function libraryOf(path: string): string {
  return /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? "edgetill";
}
