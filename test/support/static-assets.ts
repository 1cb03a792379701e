// Makes the static assets before a project starts its servers, as wrangler does (wrangler.toml). In a process of its own, because it loads the
// Worker's sources with hooks of Node.
import { execFileSync } from "node:child_process";

export default function makeStaticAssets(): void {
  execFileSync(process.execPath, ["scripts/build-assets.ts"], { stdio: "inherit" });
}
