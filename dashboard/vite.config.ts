// Builds the console (`npm run dashboard:build`, through scripts/dashboard-assets.ts) and serves it while it is developed
// (`npm run dashboard:dev`, beside `npm start`).
import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Where the Worker is while the console is developed. */
const WORKER = process.env.EDGETILL_URL ?? "http://localhost:8787";
/** Everything that is not the console's own. */
const OF_THE_WORKER = ["/api", "/images", "/pay", "/buy", "/docs", "/openapi.json", "/assets", "/dev"];

/** In bytes before they are packed. Smaller ones join those of other pages: a request each would cost more than what is loaded too early. */
const SMALL = 12_000;
/** By how many pages and dialogs a module is used: what so many have in common is one file, and what some share goes into a few. */
const MOST = 14;
const SOME = 3;
/** Large, and for wallets alone. */
const SELDOM = /@noble|@scure|src[\\/]chains|viem/;

interface Module {
  readonly isEntry: boolean;
  readonly importers: readonly string[];
  readonly code: string | null;
}

interface Graph {
  getModuleInfo(id: string): Module | null;
}

/** Each part of a library is exported by its index, which would make all of them one. */
const INDEX = /node_modules[\\/]@mantine[\\/]\w+[\\/]esm[\\/](.*[\\/])?index\.mjs$/;
const COMPONENT = /[\\/]esm[\\/]\w+[\\/](\w+)[\\/]\1\.mjs$/;

/** Whether the first script loads this module, and not only a page that is opened. */
function isAtStart(id: string, graph: Graph, seen = new Set<string>()): boolean {
  const of = graph.getModuleInfo(id);
  if (of === null || seen.has(id) || INDEX.test(id)) return false;
  seen.add(id);
  return of.isEntry || importersOf(id, of, graph).some((each) => isAtStart(each, graph, seen));
}

/** A component of the library is imported by whoever names it, through the index. */
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

/** Refuses a component whose styles nobody imports: it would be shown without them. */
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
  // The Worker puts the nonce of each answer in the place of this word.
  html: { cspNonce: "CSP_NONCE" },
  build: {
    target: "es2023",
    // Browsers that know modules in workers and `import.meta` know modulepreload.
    modulePreload: { polyfill: false },
    // A file in a data: URL would be in the page that is sent each time.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      input: { console: join(import.meta.dirname, "index.html") },
      output: {
        hashCharacters: "hex",
        // What the first script loads is one file.
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

/** With the Worker's own origin, because a session's changes are refused from any other. */
function proxied() {
  return { target: WORKER, changeOrigin: true, ws: true, headers: { origin: WORKER } };
}
