// What build-worker.ts tells the servers of a run (serve-built.ts) of the Worker that it has made for them.
import { resolve } from "node:path";

/** What serves it, in the place of wrangler (`StartOptions`); undefined outside of a run of tests, as where pictures are taken: then wrangler does. */
export function builtServer(): string | undefined {
  return process.env[FOLDER] === undefined ? undefined : resolve("test/support/serve-built.ts");
}
/** The variable of the environment that has its folder: sources may change while a run goes on with what it began with. */
export const FOLDER = "BUILT_WORKER";
/** In its folder: what wrangler gives a Worker of this configuration, as miniflare takes it. */
export const BINDINGS_FILE = "bindings.json";
