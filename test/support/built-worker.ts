// What build-worker.ts passes to a run's servers (serve-built.ts): the Worker it built.
import { resolve } from "node:path";

/** What serves it instead of wrangler (`StartOptions`); undefined outside test runs, for example for screenshots: there wrangler serves. */
export function builtServer(): string | undefined {
  return process.env[FOLDER] === undefined ? undefined : resolve("test/support/serve-built.ts");
}
/** The environment variable with its folder. A run keeps the build it started with even if sources change. */
export const FOLDER = "BUILT_WORKER";
/** In its folder: what wrangler would pass to miniflare for this configuration. */
export const BINDINGS_FILE = "bindings.json";
