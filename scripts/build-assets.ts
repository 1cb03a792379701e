// Makes the static assets in static/ (`npm run assets:build`), unless they are there and nothing that they are made from has changed since.
// wrangler runs this before each build (wrangler.toml), and so do the tests that serve them. Other files of that folder are kept as they are.
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkoutAssets, keepNames } from "./checkout-assets.ts";
import { loadRoutes } from "./load-routes.ts";

const FOLDER = "static";
/** Says what was made from what. Never uploaded (static/.assetsignore). */
const STAMP_FILE = join(FOLDER, "made-from.json");
const SOURCES = [
  "src/**/*.{ts,tsx,css,jsonc,html,js}",
  "scripts/{build-assets,checkout-assets,load-routes,text-modules}.ts",
  "package-lock.json",
];

interface Stamp {
  /** Hash of the sources' contents. */
  readonly sources: string;
  /** Paths below FOLDER. */
  readonly files: readonly string[];
}

type File = readonly [path: string, content: string | Uint8Array];

export async function buildAssets(): Promise<void> {
  const sources = hashOfSources();
  const last = readStamp();
  if (last.sources === sources && last.files.every((path) => existsSync(join(FOLDER, path)))) return;
  const made = [...(await checkoutFiles()), ...(await referenceFiles())];
  for (const [path, content] of made) writeInOneStep(join(FOLDER, path), content);
  const files = made.map(([path]) => path);
  for (const path of last.files) if (!files.includes(path)) rmSync(join(FOLDER, path), { force: true });
  writeInOneStep(STAMP_FILE, JSON.stringify({ sources, files } satisfies Stamp));
}

/** By content: a checkout of another commit sets times that say nothing. */
function hashOfSources(): string {
  const hash = createHash("sha256");
  const files = globSync(SOURCES).filter((path) => !path.endsWith(".generated.ts"));
  for (const file of files.toSorted()) hash.update(file).update("\0").update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

function readStamp(): Stamp {
  return existsSync(STAMP_FILE) ? JSON.parse(readFileSync(STAMP_FILE, "utf8")) : { sources: "", files: [] };
}

async function checkoutFiles(): Promise<readonly File[]> {
  const checkout = await checkoutAssets();
  keepNames(checkout);
  return [
    [checkout.scriptPath.slice(1), checkout.script],
    [checkout.stylePath.slice(1), checkout.style],
  ];
}

/** /openapi.json for a deployment whose origin is not known, and /docs. */
async function referenceFiles(): Promise<readonly File[]> {
  const specs = await loadRoutes();
  const { openApiDocument } = await import("../src/app/openapi.ts");
  const { docsPage } = await import("../src/app/docs.ts");
  return [
    ["reference/openapi.json", JSON.stringify(openApiDocument(specs, ""))],
    ["reference/docs.html", String(await docsPage(specs))],
  ];
}

/** Several servers that start at once may make the same files. */
function writeInOneStep(path: string, content: File[1]): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = join(FOLDER, `${process.pid}.draft`);
  writeFileSync(draft, content);
  renameSync(draft, path);
}

if (import.meta.main) await buildAssets();
