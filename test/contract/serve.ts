// The servers of the contract tests, one for each worker of the test run, so that concurrent files share no merchant. Each starts as with `npm
// start`, but from the shared build (serve-built.ts), on a free port with a home folder of its own, and ends with the tests. It starts when a file of
// its worker first needs it, because an unused server takes three percent of a core while other projects run.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { findFreePort } from "../../scripts/free-port.ts";
import { startServer } from "../../scripts/server.ts";
import { readSettings } from "../../scripts/settings.ts";
import { builtServer } from "../support/built-worker.ts";
import { listen } from "../support/listen.ts";
import { type Extra, seedExtra } from "../support/seed-extra.ts";

/** What a worker knows about its server. */
export interface Edgetill extends Extra {
  readonly baseUrl: string;
  readonly merchantId: string;
  readonly secretKey: string;
  readonly publicKey: string;
  /** The folder with the server's state, and its output in `server.log`. */
  readonly home: string;
}

declare module "vitest" {
  interface ProvidedContext {
    /** The address where a worker requests its server: GET `/<its number>` answers with an Edgetill, or with 500 and the reason. */
    servers: string;
  }
}

type Started = Awaited<ReturnType<typeof serveOne>>;

export default async function serve(project: TestProject): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<Started>>();
  const serverOf = (worker: string) => {
    const server = started.get(worker) ?? serveOne(`shop-${worker}`);
    started.set(worker, server);
    return server;
  };
  const proxy = createServer((request, response) => {
    serverOf((request.url ?? "").slice(1)).then(
      ({ edgetill }) => response.end(JSON.stringify(edgetill)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const { origin, close } = await listen(proxy);
  project.provide("servers", origin);
  return async () => {
    await close();
    for (const server of await Promise.allSettled(started.values())) {
      if (server.status === "fulfilled") await server.value.stop();
    }
  };
}

async function serveOne(name: string): Promise<{ readonly edgetill: Edgetill; readonly stop: () => Promise<void> }> {
  const home = mkdtempSync(join(tmpdir(), "edgetill-contract-"));
  const settings = readSettings({
    PORT: String(await findFreePort()),
    EDGETILL_HOME: home,
    // Deployers choose the names, so nothing may depend on ours.
    EDGETILL_NAME: name,
    RATE_LIMIT_PER_MINUTE: "0",
    // Short, because tests wait for retries. Jitter shortens a pause by at most a fifth, so it stays over a second and no two attempts have the same
    // timestamp.
    WEBHOOK_SCHEDULE_SECONDS: "0,1.3,1.3,1.3",
  });
  let extra: Extra | undefined;
  const server = await startServer(settings, {
    logFile: join(home, "server.log"),
    wrangler: builtServer(),
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
