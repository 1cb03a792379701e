// `npm run deploy`: creates a deployment in your Cloudflare account, or upgrades it (docs/operations/deploy.md).
import { lookup } from "node:dns/promises";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { readConfiguration } from "./deploy/configuration.ts";
import { DeployError } from "./deploy/deploy-error.ts";
import { deploy } from "./deploy/run.ts";
import type { Surroundings } from "./deploy/surroundings.ts";
import { deployInBuild, isWorkersBuild } from "./deploy/workers-builds.ts";
import { processOf } from "./deploy/wrangler-command.ts";

const root = resolve(import.meta.dirname, "..");
const hasTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;

function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  return new Promise((resolve, reject) => {
    terminal.once("close", () => reject(new DeployError("Ended without an answer.")));
    terminal.question(question, (answer) => {
      resolve(answer);
      terminal.close();
    });
  });
}

const surroundings: Surroundings = {
  root,
  wrangler: processOf(process.execPath, ["node_modules/wrangler/bin/wrangler.js"]),
  environment: process.env,
  print: (text) => process.stdout.write(text),
  ask: hasTerminal ? ask : undefined,
  base: readConfiguration(resolve(root, "wrangler.toml")),
  isTaken: (domain) =>
    lookup(domain).then(
      () => true,
      () => false,
    ),
  vendors: { fetch, timeoutMs: 8_000, probeMs: 30_000 },
  buildAssets: async () => (await import("./build-assets.ts")).buildAssets(),
  nowMs: Date.now,
};
process.exitCode = isWorkersBuild(process.env)
  ? await deployInBuild(surroundings)
  : await deploy(process.argv.slice(2), surroundings);
