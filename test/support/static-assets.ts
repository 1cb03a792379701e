// Builds the static assets before a project starts its servers, as wrangler does (wrangler.toml). It takes a separate process, because it loads the
// Worker's sources through Node's hooks.
import { execFileSync } from "node:child_process";

export default function makeStaticAssets(): void {
  execFileSync(process.execPath, ["scripts/build-assets.ts"], { stdio: "inherit" });
}
