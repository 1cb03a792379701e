// Builds the static assets in static/ (`npm run assets:build`) if one is missing or a source has changed. wrangler runs this before each build
// (wrangler.toml), and so do the test projects that serve the assets. Committed files of that folder are not changed.
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkoutAssets, hashedName, keepForWorker, MODAL_PATH } from "./checkout-assets.ts";
import { type BuiltFile, DASHBOARD_SOURCES } from "./dashboard-sources.ts";
import { loadAllRoutes } from "./load-routes.ts";
import { makeMcpLibrary } from "./mcp-library.ts";

const FOLDER = "static";
/** Records which files were built from which sources. Never uploaded (static/.assetsignore). */
const STAMP_FILE = join(FOLDER, "made-from.json");

/** A part of the assets that is rebuilt only when one of its own sources has changed. */
interface Part {
  readonly sources: readonly string[];
  readonly make: () => Promise<readonly BuiltFile[]>;
}

const PARTS: Readonly<Record<string, Part>> = {
  worker: {
    sources: ["src/**/*.{ts,tsx,css,jsonc,html,js}", "scripts/{checkout-assets,load-routes,text-modules}.ts"],
    make: async () => [...(await checkoutFiles()), ...(await referenceFiles())],
  },
  console: { sources: [...DASHBOARD_SOURCES, "scripts/dashboard-assets.ts"], make: builtDashboard },
};
const SOURCES_OF_ALL = ["scripts/build-assets.ts", "package-lock.json"];

interface Stamp {
  /** Hash of the sources' contents. */
  readonly sources: string;
  /** Paths below FOLDER. */
  readonly files: readonly string[];
}

export async function buildAssets(): Promise<void> {
  await makeMcpLibrary();
  for (const [name, part] of Object.entries(PARTS)) await buildPart(name, part);
}

async function buildPart(name: string, part: Part): Promise<void> {
  const sources = hashOf([...part.sources, ...SOURCES_OF_ALL]);
  const last = readStamps()[name] ?? { sources: "", files: [] };
  if (last.sources === sources && last.files.every((path) => existsSync(join(FOLDER, path)))) return;
  const made = await part.make();
  for (const [path, content] of made) writeInOneStep(join(FOLDER, path), content);
  const files = made.map(([path]) => path);
  for (const path of last.files) if (!files.includes(path)) rmSync(join(FOLDER, path), { force: true });
  writeInOneStep(STAMP_FILE, JSON.stringify({ ...readStamps(), [name]: { sources, files } satisfies Stamp }));
}

/** A hash of the contents. Modification times would not work, because each git checkout resets them. */
function hashOf(sources: readonly string[]): string {
  const hash = createHash("sha256");
  const files = globSync([...sources]).filter((path) => !/\.generated\.[jt]s$/.test(path));
  for (const file of files.toSorted()) hash.update(file).update("\0").update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

function readStamps(): Readonly<Record<string, Stamp>> {
  return existsSync(STAMP_FILE) ? JSON.parse(readFileSync(STAMP_FILE, "utf8")) : {};
}

/** Vite takes a second to load, so only a build loads it. */
async function builtDashboard(): Promise<readonly BuiltFile[]> {
  const { dashboardFiles } = await import("./dashboard-assets.ts");
  return dashboardFiles();
}

async function checkoutFiles(): Promise<readonly BuiltFile[]> {
  const checkout = await checkoutAssets();
  keepForWorker(checkout);
  return [
    [checkout.scriptPath.slice(1), checkout.script],
    [MODAL_PATH.slice(1), checkout.modalScript],
  ];
}

/**
 * /openapi.json without an origin (the deployment adds its own), the document of BTCPay Server's routes, /docs with the files that it loads, and the
 * tools of /mcp.
 */
async function referenceFiles(): Promise<readonly BuiltFile[]> {
  const { SPECS: specs, GREENFIELD_SPECS } = await loadAllRoutes();
  const { greenfieldDocument } = await import("../src/app/greenfield-openapi.ts");
  const { openApiDocument } = await import("../src/app/openapi.ts");
  const { toolsOf } = await import("../src/app/mcp/tools.ts");
  const loaded = [
    ["swagger-ui.js", swaggerFile("swagger-ui-bundle.js")],
    ["swagger-ui.css", swaggerFile("swagger-ui.css")],
    ["docs.js", readFileSync("src/app/docs/start.js", "utf8")],
  ] as const;
  let page = readFileSync("src/app/docs/page.html", "utf8");
  const files: BuiltFile[] = [];
  for (const [name, content] of loaded) {
    const path = hashedName(`assets/${name}`, content);
    page = page.replace(`{${name}}`, `/${path}`);
    files.push([path, content]);
  }
  return [
    ...files,
    ["reference/openapi.json", JSON.stringify(openApiDocument(specs, ""))],
    ["reference/greenfield.json", JSON.stringify(greenfieldDocument(GREENFIELD_SPECS))],
    ["reference/docs.html", page],
    ["reference/mcp-tools.json", JSON.stringify(toolsOf(specs))],
  ];
}

/** The file's text without the link to its source map, which is not served. */
function swaggerFile(name: string): string {
  const text = readFileSync(join("node_modules/swagger-ui-dist", name), "utf8");
  return text.replace(/^(?:\/\/|\/\*)# sourceMappingURL=.*$/gm, "");
}

/** Writes atomically: servers that start at the same time may write the same file. */
function writeInOneStep(path: string, content: BuiltFile[1]): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = join(FOLDER, `${process.pid}.draft`);
  writeFileSync(draft, content);
  renameSync(draft, path);
}

if (import.meta.main) await buildAssets();
