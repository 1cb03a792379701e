// The servers of the contract tests, one for each worker of the test run, so that concurrent files share no merchant: each is a real
// `wrangler dev` on a free port with its own home folder, ended by its id when the tests are done.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { findFreePort } from "../../scripts/free-port.ts";
import { startServer } from "../../scripts/server.ts";
import { readSettings } from "../../scripts/settings.ts";
import { type Extra, seedExtra } from "../support/seed-extra.ts";

/** What `inject("edgetill")` gives. */
export interface Edgetill extends Extra {
  readonly baseUrl: string;
  readonly merchantId: string;
  readonly secretKey: string;
  readonly publicKey: string;
  /** Where the server keeps its state; all that it prints is in `server.log` there. */
  readonly home: string;
}

declare module "vitest" {
  interface ProvidedContext {
    servers: readonly Edgetill[];
  }
}

export default async function serve(project: TestProject): Promise<() => Promise<void>> {
  const workers = Number(project.vitest.config.maxWorkers);
  const started = await Promise.all(Array.from({ length: workers }, (_, n) => serveOne(`shop-${n}`)));
  project.provide(
    "servers",
    started.map(({ edgetill }) => edgetill),
  );
  return async () => {
    await Promise.all(started.map(({ stop }) => stop()));
  };
}

async function serveOne(name: string): Promise<{ readonly edgetill: Edgetill; readonly stop: () => Promise<void> }> {
  const home = mkdtempSync(join(tmpdir(), "edgetill-contract-"));
  const settings = readSettings({
    PORT: String(await findFreePort()),
    EDGETILL_HOME: home,
    // Names are the deployer's: nothing may depend on ours.
    EDGETILL_NAME: name,
    RATE_LIMIT_PER_MINUTE: "0",
    // Short, because tests wait for retries; but a fifth less is still over a second, so that no two attempts have the same timestamp.
    WEBHOOK_SCHEDULE_SECONDS: "0,1.3,1.3,1.3",
  });
  let extra: Extra | undefined;
  const server = await startServer(settings, {
    logFile: join(home, "server.log"),
    seedMore: async (at, demo) => {
      extra = await seedExtra(at, demo.merchantId, Date.now());
    },
  });
  if (extra === undefined) throw new Error("the server started without its seed");
  const stop = async () => {
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  };
  return { edgetill: { ...server.demo, ...extra, home }, stop };
}
