// What build-worker.ts passes to a run's servers (serve-built.ts) about the Worker that it built.
import { resolve } from "node:path";

/**
 * The program that serves the build instead of wrangler (`StartOptions`). Undefined outside test runs, for example for screenshots, which wrangler
 * serves.
 */
export function builtServer(): string | undefined {
  return process.env[FOLDER] === undefined ? undefined : resolve("test/support/serve-built.ts");
}
/** The environment variable with the build's folder. A run keeps the build it started with even if sources change. */
export const FOLDER = "BUILT_WORKER";
/** The file in that folder with what wrangler would pass to miniflare for this configuration. */
export const BINDINGS_FILE = "bindings.json";
