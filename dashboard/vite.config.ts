// Builds the console (`npm run dashboard:build`, through scripts/dashboard-assets.ts) and serves it while it is developed
// (`npm run dashboard:dev`, while `npm start` runs the Worker).
import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** The URL of the Worker during development. */
const WORKER = process.env.EDGETILL_URL ?? "http://localhost:8787";
/** Paths that the Worker serves itself. */
const OF_THE_WORKER = ["/api", "/images", "/pay", "/buy", "/docs", "/openapi.json", "/assets", "/dev"];

/** In bytes before minification. Smaller chunks are merged with others: an extra request costs more than loading some code too early. */
const SMALL = 12_000;
/** A module used by at least `MOST` pages and dialogs goes into one common file. A module used by at least `SOME` goes into one of a few files. */
const MOST = 14;
const SOME = 3;
/** Large modules that only wallets need. */
const SELDOM = /@noble|@scure|src[\\/]chains|viem/;

interface Module {
  readonly isEntry: boolean;
  readonly importers: readonly string[];
  readonly code: string | null;
}

interface Graph {
  getModuleInfo(id: string): Module | null;
}

/** A library's index imports all of the library's parts. If the index counted as their importer, the first script would load them all. */
const INDEX = /node_modules[\\/]@mantine[\\/]\w+[\\/]esm[\\/](.*[\\/])?index\.mjs$/;
const COMPONENT = /[\\/]esm[\\/]\w+[\\/](\w+)[\\/]\1\.mjs$/;

/** Whether the first script loads this module. Otherwise the module is loaded with a page that needs it. */
function isAtStart(id: string, graph: Graph, seen = new Set<string>()): boolean {
  const of = graph.getModuleInfo(id);
  if (of === null || seen.has(id) || INDEX.test(id)) return false;
  seen.add(id);
  return of.isEntry || importersOf(id, of, graph).some((each) => isAtStart(each, graph, seen));
}

/** A module that imports a component by name, through the library's index, counts as the component's importer. */
function importersOf(id: string, { importers }: Module, graph: Graph): readonly string[] {
  const [, name] = COMPONENT.exec(id) ?? [];
  const index = importers.find((each) => INDEX.test(each));
  if (name === undefined || index === undefined) return importers;
  const byName = (graph.getModuleInfo(index)?.importers ?? []).filter((each) =>
    new RegExp(`\\b${name}\\b`).test(graph.getModuleInfo(each)?.code ?? ""),
  );
  return [...importers, ...byName];
}

const STYLED = /[\\/]@mantine[\\/]core[\\/]esm[\\/].*[\\/](\w+)\.module\.mjs$/;

/** Fails the build if the styles of a used component are not imported: it would be shown without them. */
function stylesAreThere(): Plugin {
  return {
    name: "styles-are-there",
    generateBundle(_, bundle) {
      const styles = [...this.getModuleIds()].filter((id) => id.includes("/core/styles/"));
      const used = Object.values(bundle).flatMap((file) => (file.type === "chunk" ? Object.keys(file.modules) : []));
      const missing = used.flatMap((id) => {
        const [, name] = STYLED.exec(id) ?? [];
        return name === undefined || styles.some((each) => each.includes(`/${name}.css`)) ? [] : [name];
      });
      if (missing.length > 0) throw new Error(`import the styles of ${missing.join(", ")} in src/mantine-styles.ts`);
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), stylesAreThere()],
  // The Worker replaces this placeholder with the nonce of each response.
  html: { cspNonce: "CSP_NONCE" },
  build: {
    target: "es2023",
    // Browsers that support modules in workers and `import.meta` also support modulepreload.
    modulePreload: { polyfill: false },
    // A file that is inlined as a data: URL would be sent again with each page.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      input: { console: join(import.meta.dirname, "index.html") },
      output: {
        hashCharacters: "hex",
        // Everything that the first script loads goes into one file.
        codeSplitting: {
          groups: [
            { debugName: "frame", name: (id, graph) => (isAtStart(id, graph) ? "frame" : null) },
            { name: "common", minShareCount: MOST, test: (id) => !SELDOM.test(id) },
            {
              name: "parts",
              minShareCount: SOME,
              entriesAware: true,
              entriesAwareMergeThreshold: SMALL,
              test: (id) => !SELDOM.test(id),
            },
          ],
        },
        entryFileNames: "assets/[name]-[hash:16].js",
        chunkFileNames: ({ name }) => `assets/${name.toLowerCase().replace(/~.{60,}~|~/g, "-")}-[hash:16].js`,
        assetFileNames: "assets/[name]-[hash:16][extname]",
      },
    },
  },
  server: {
    port: 5173,
    proxy: Object.fromEntries(OF_THE_WORKER.map((path) => [path, proxied()])),
  },
});

/** Sends the Worker's own origin, because the Worker refuses a session's writes from any other origin. */
function proxied() {
  return { target: WORKER, changeOrigin: true, ws: true, headers: { origin: WORKER } };
}
