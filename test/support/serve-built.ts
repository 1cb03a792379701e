// Replaces `wrangler dev`, with the same command line. It serves the Worker that build-worker.ts built, with wrangler's runtime and bindings, but
// without its bundler and without the second Worker that routes every request. `wrangler dev` itself is tested in test/contract/wrangler-dev.test.ts,
// test/browser/console-first-payment.test.ts and test/browser/console-set-up.test.ts.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs, parseEnv } from "node:util";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4WorkerOptions } from "miniflare";
import * as z from "zod";
import { COMPATIBILITY_FLAGS } from "../../scripts/wrangler.ts";
import { BINDINGS_FILE, FOLDER } from "./built-worker.ts";

/** What wrangler gives a Worker. Only the bindings are read here; all other members are passed on unchanged. */
type WorkerOptions = Pick<V4WorkerOptions, "bindings">;
type Bindings = NonNullable<WorkerOptions["bindings"]>;

/** In the format of the installed wrangler version: build-worker.ts rebuilds for each version. */
const workerOptions = z.custom<WorkerOptions>(
  (given) => z.looseObject({ bindings: z.looseObject({}) }).safeParse(given).success,
);
const names = z.array(z.string());

const MAIN = "worker.js";
/**
 * Reads unread request bodies, as wrangler does in development. Otherwise the runtime closes a connection on which a request was answered before its
 * body was read, and the next request fails.
 */
const ENTRY = `import worker from "./${MAIN}";
export * from "./${MAIN}";
export default {
  ...worker,
  async fetch(request, env, context) {
    try {
      return await worker.fetch(request, env, context);
    } finally {
      try {
        if (request.body !== null && !request.bodyUsed) for await (const _ of request.body);
      } catch {}
    }
  },
};
`;
const TEXT = /\.(jsonc|txt)$/;
const OWN_NAME = '"edgetill';

const { values: given } = parseArgs({
  strict: false,
  allowPositionals: true,
  options: {
    config: { type: "string" },
    port: { type: "string" },
    "persist-to": { type: "string" },
    "env-file": { type: "string" },
  },
});

// These flags would reduce the memory of a server that runs for hours, but cost a third of its speed (docs/design/performance.md, "Memory over an
// hour").
delete process.env.MINIFLARE_WORKERD_V8_FLAGS;

const folder = process.env[FOLDER];
if (folder === undefined)
  throw new Error("there is no built Worker: its project has no test/support/build-worker.ts as globalSetup");
const configuration = readFileSync(optionOf("config"), "utf8");
const [, name = ""] = /^name = "(.+)"$/m.exec(configuration) ?? [];
const [, secrets = "[]"] = /^required = (\[.*\])$/m.exec(configuration) ?? [];
const bindings = readFileSync(join(folder, BINDINGS_FILE), "utf8").replaceAll(OWN_NAME, `"${name}`);
const worker = workerOptions.parse(JSON.parse(bindings));

const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    host: "127.0.0.1",
    port: Number(optionOf("port")),
    cf: false,
    log: new Log(LogLevel.INFO),
    logRequests: false,
    // Lets a request to the server trigger a scheduled run, as with `wrangler dev`.
    unsafeTriggerHandlers: true,
    handleStructuredLogs: ({ message }) => console.log(message),
    resourcePersistencePath: join(optionOf("persist-to"), "v3"),
    workers: [
      {
        ...worker,
        name,
        compatibilityFlags: [...COMPATIBILITY_FLAGS],
        bindings: settings(worker.bindings ?? {}, names.parse(JSON.parse(secrets))),
        modulesRoot: folder,
        modules: [
          { type: "ESModule", path: join(folder, "entry.js"), contents: ENTRY },
          { type: "ESModule", path: join(folder, MAIN) },
          ...readdirSync(folder).flatMap((file) =>
            TEXT.test(file) ? [{ type: "Text" as const, path: join(folder, file) }] : [],
          ),
        ],
      },
    ],
  }),
);
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.on(signal, () => void miniflare.dispose().finally(() => process.exit(0)));
}
await miniflare.ready;

/** The configuration's variables, replaced by this process's variables of the same name. Secrets come from the file or from this process. */
function settings(variables: Bindings, secrets: readonly string[]): Bindings {
  const file = parseEnv(readFileSync(optionOf("env-file"), "utf8"));
  const told = secrets.flatMap((secret) => {
    const value = process.env[secret] ?? file[secret];
    return value === undefined ? [] : [[secret, value] as const];
  });
  const found = Object.entries(variables).map(
    ([variable, value]) => [variable, process.env[variable] ?? value] as const,
  );
  return Object.fromEntries([...found, ...told]);
}

function optionOf(option: string): string {
  const value = given[option];
  if (typeof value !== "string") throw new Error(`the server is started without --${option}`);
  return value;
}
