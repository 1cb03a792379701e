// Builds the console (`npm run dashboard:build`, through scripts/dashboard-assets.ts) and serves it while it is developed
// (`npm run dashboard:dev`, beside `npm start`).
import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Where the Worker is while the console is developed. */
const WORKER = process.env.EDGETILL_URL ?? "http://localhost:8787";
/** Everything that is not the console's own. */
const OF_THE_WORKER = ["/api", "/images", "/pay", "/buy", "/docs", "/openapi.json", "/assets", "/dev"];

/** Functions and components of Mantine that the frame around all pages uses. */
const SHARED_BY_ALL = new RegExp(
  String.raw`@mantine[\\/](hooks[\\/]|core[\\/]esm[\\/](core[\\/]utils|components[\\/](${[
    "Alert",
    "Anchor",
    "Avatar",
    "Badge",
    "Center",
    "Code",
    "Divider",
    "InputBase",
    "Paper",
    "Text",
    "TextInput",
    "Title",
  ].join("|")}))[\\/])`,
);

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
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
        // A request each would cost more than any of these small modules, which all pages load.
        codeSplitting: { groups: [{ name: "helpers", test: SHARED_BY_ALL }] },
        entryFileNames: "assets/[name]-[hash:16].js",
        chunkFileNames: ({ name }) => `assets/${name.toLowerCase()}-[hash:16].js`,
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
