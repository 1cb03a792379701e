// What the servers of a project serve beside the Worker: made before they start, as wrangler does it (wrangler.toml), and in a process of its own,
// because it loads the Worker's sources as Node does.
import { execFileSync } from "node:child_process";

export default function makeStaticAssets(): void {
  execFileSync(process.execPath, ["scripts/build-assets.ts"], { stdio: "inherit" });
}
