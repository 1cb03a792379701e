// Bundles a worker the way `wrangler deploy --minify` does: workerd's conditions, the runtime's own modules left outside.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";

/** wrangler keeps the names of functions unless it is told not to. */
const DROPS_NAMES = /^keep_names *= *false/m;

export interface Bundle {
  readonly code: string;
  readonly gzipBytes: number;
  readonly metafile: Metafile;
}

/** A file of the repository, or source text that is resolved from its root. */
export type Entry = { readonly file: string } | { readonly text: string };

/** `isReadable` leaves the code as written, for a profile; everything that is measured is minified. */
export async function bundleWorker(entry: Entry, isReadable = false): Promise<Bundle> {
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
    minify: !isReadable,
    keepNames: !DROPS_NAMES.test(readFileSync("wrangler.toml", "utf8")),
    metafile: true,
    conditions: ["workerd", "worker", "browser"],
    define: {
      "navigator.userAgent": '"Cloudflare-Workers"',
      "process.env.NODE_ENV": '"production"',
      "global.process.env.NODE_ENV": '"production"',
      "globalThis.process.env.NODE_ENV": '"production"',
    },
    external: ["node:*", "cloudflare:*"],
    logLevel: "silent",
  });
  const code = built.outputFiles[0]?.text;
  if (code === undefined) throw new Error("esbuild wrote no bundle");
  return { code, gzipBytes: gzipSync(code, { level: 9 }).length, metafile: built.metafile };
}

/** Minified bytes of each package in a bundle, largest first; our own sources are "edgetill". */
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
