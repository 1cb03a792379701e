import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { textModules } from "./scripts/text-modules.ts";
import { filesOf, type Part } from "./test/selection.ts";
import { keepTemporaryFilesInMemory } from "./test/support/memory-folder.ts";
import MixedOrder from "./test/support/mixed-order.ts";

/**
 * How long a test, a hook or a wait for a condition may take: no measure of anything, only an end to what hangs. A test of 8 s took 22 on a busy machine
 * and 126 under a load of 15 on two cores.
 */
const PATIENT = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 120_000 } } } as const;

keepTemporaryFilesInMemory();

const PART = partOf(process.env.TESTS);

function partOf(name: string | undefined): Part {
  if (name === undefined || name === "selection" || name === "rest") return name;
  throw new Error(`TESTS is "selection" or "rest", or is not set for all tests. It is "${name}".`);
}

// wrangler warns that the secrets of wrangler.toml are missing. The tests' values are bindings of the worker project below.
process.env.WRANGLER_LOG ??= "error";

const WORKER_BINDINGS = {
  ENVIRONMENT: "development",
  WEBHOOK_LOOPBACK: "on",
  // Nothing answers there.
  DEV_CONTROL: "http://127.0.0.1:9/token",
  RATE_SOURCE: "fixed",
  PUBLIC_URL: "http://localhost:8787",
  ROW_MAC_KEY: "test:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
  CODE_PEPPER: "test:MTEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
  SECRETS_AES_KEY: "test:MjEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
  API_KEY_MAC_KEY: "test:MzEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
  SIGNING_KEY: "test:nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=",
  CHAIN_SOURCES: "{}",
  // Tests of these lines set it.
  LOG_SAMPLE: "0",
  SIGN_UP: "open",
  SIGN_IN_PROVIDERS: "{}",
  MAIL_PROVIDER: '{"kind":"mailbox"}',
  MAIL_FROM: "Edgetill <pay@example.com>",
};

// Where projects do not isolate their files: a third to a half of their time was loading the same modules anew. So none of these files may replace a
// module (vi.mock): those who loaded it before would keep the real one.
const unit = {
  plugins: [textModules],
  test: {
    name: "unit",
    ...filesOf("unit", PART),
    setupFiles: ["./test/support/repeat-property.ts"],
    environment: "node",
    isolate: false,
    ...PATIENT,
  },
};

const inEngine = (file: string) => new URL(`test/simulation/engine/${file}`, import.meta.url).pathname;

const simulation = {
  plugins: [textModules],
  // Classes of objects run in Node, and hashing answers at a moment that a schedule can know.
  resolve: {
    alias: [
      { find: "cloudflare:workers", replacement: inEngine("workers-runtime.ts") },
      { find: /^\..*\/lib\/hmac\.ts$/, replacement: inEngine("scheduled-hmac.ts") },
    ],
  },
  test: {
    name: "simulation",
    ...filesOf("simulation", PART),
    setupFiles: ["./test/support/repeat-property.ts"],
    environment: "node",
    isolate: false,
    ...PATIENT,
  },
};

const worker = async () => ({
  plugins: [
    cloudflareTest({
      wrangler: { configPath: "./wrangler.toml" },
      miniflare: {
        // As the development server has it: deliveries that hang must not hold the queue.
        compatibilityFlags: ["queue_consumer_no_wait_for_wait_until"],
        // Not as EXPORTS: a deployment without a bucket is the usual one.
        r2Buckets: ["TEST_EXPORTS"],
        bindings: {
          TEST_MIGRATIONS: await readD1Migrations("migrations"),
          ...WORKER_BINDINGS,
        },
      },
    }),
  ],
  test: {
    name: "worker",
    ...filesOf("worker", PART),
    setupFiles: ["./test/support/migrate.ts", "./test/support/loopback-only.ts"],
    globalSetup: [
      "./test/support/static-assets.ts",
      "./test/support/receiver-setup.ts",
      "./test/support/turnstile-setup.ts",
    ],
    isolate: false,
    ...PATIENT,
  },
});

const chain = {
  plugins: [textModules],
  test: {
    name: "chain",
    ...filesOf("chain", PART),
    environment: "node",
    globalSetup: ["./test/support/static-assets.ts", "./test/support/build-worker.ts"],
    // Real nodes: each file starts its own, and waits for them more than it works.
    ...PATIENT,
  },
};

const contract = {
  plugins: [textModules],
  test: {
    name: "contract",
    ...filesOf("contract", PART),
    environment: "node",
    globalSetup: ["./test/support/static-assets.ts", "./test/support/build-worker.ts", "./test/contract/serve.ts"],
    isolate: false,
    ...PATIENT,
  },
};

const upgrade = {
  plugins: [textModules],
  test: { name: "upgrade", ...filesOf("upgrade", PART), environment: "node", ...PATIENT },
};

const browser = {
  plugins: [textModules],
  test: {
    name: "browser",
    ...filesOf("browser", PART),
    environment: "node",
    globalSetup: ["./test/support/static-assets.ts", "./test/support/build-worker.ts", "./test/browser/serve.ts"],
    ...PATIENT,
  },
};

export default defineConfig(async () => ({
  test: {
    reporters: ["default", "./test/support/expected-noise.ts", "./test/support/closing-line.ts"],
    // Console output is shown of tests that fail; deep campaigns show what they exercised. `--silent=false` shows all.
    silent: process.env.DEEP ? false : ("passed-only" as const),
    // Two more than the cores of a small machine: tests on real nodes wait more than they work, and mostly one of four is theirs (mixed-order.ts).
    maxWorkers: 4,
    sequence: { sequencer: MixedOrder },
    projects: [unit, simulation, await worker(), chain, contract, upgrade, browser],
  },
}));
