// What build-worker.ts tells the servers of a run (serve-built.ts) of the Worker that it has made for them.
import { resolve } from "node:path";

/** Serves it, in the place of wrangler (`StartOptions`). */
export const SERVE_BUILT = resolve("test/support/serve-built.ts");
/** The variable of the environment that has its folder: sources may change while a run goes on with what it began with. */
export const FOLDER = "BUILT_WORKER";
/** In its folder: what wrangler gives a Worker of this configuration, as miniflare takes it. */
export const BINDINGS_FILE = "bindings.json";
