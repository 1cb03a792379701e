// Builds the console with Vite (`dashboard/vite.config.ts`). Its scripts and styles are static assets with the hash of their content in their
// names; only the Worker serves its page, because each answer needs its own nonce.
import { build, type Rolldown } from "vite";
import type { BuiltFile } from "./dashboard-sources.ts";

/** Files by their paths below static/. */
export async function dashboardFiles(): Promise<readonly BuiltFile[]> {
  // The caller's value, such as "test", would select React's development build, which is 50% larger.
  process.env.NODE_ENV = "production";
  const options = { build: { write: false }, mode: "production", logLevel: "warn" } as const;
  const built = await build({ ...options, configFile: "dashboard/vite.config.ts" });
  if (!("output" in built)) throw new Error("vite built nothing, or more than one thing");
  return built.output.map((file) => [pathOf(file), contentOf(file)]);
}

function pathOf({ fileName }: Rolldown.OutputChunk | Rolldown.OutputAsset): string {
  return fileName === "index.html" ? "console/page.html" : fileName;
}

function contentOf(file: Rolldown.OutputChunk | Rolldown.OutputAsset): string | Uint8Array {
  return file.type === "chunk" ? file.code : file.source;
}
