import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { textModules } from "./scripts/text-modules.ts";
import { filesOf, type Part } from "./test/selection.ts";
import { keepTemporaryFilesInMemory } from "./test/support/memory-folder.ts";
import MixedOrder from "./test/support/mixed-order.ts";

/**
 * How long a test, a hook or a wait for a condition may take. These are not performance bounds; they only end tests that hang. A test of 8 s took 22
 * s on a busy machine, and 126 s under a load of 15 on two cores.
 */
const PATIENT = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 120_000 } } } as const;

keepTemporaryFilesInMemory();

const PART = partOf(process.env.TESTS);

function partOf(name: string | undefined): Part {
  if (name === undefined || name === "selection" || name === "rest") return name;
  throw new Error(`TESTS is "selection" or "rest", or is not set for all tests. It is "${name}".`);
}

// Hides wrangler's warning that the secrets of wrangler.toml are missing. The tests' values are bindings of the worker project below.
process.env.WRANGLER_LOG ??= "error";

const WORKER_BINDINGS = {
  ENVIRONMENT: "development",
  WEBHOOK_LOOPBACK: "on",
  // Nothing listens on this port.
  DEV_CONTROL: "http://127.0.0.1:9/token",
  RATE_SOURCE: "fixed",
  PUBLIC_URL: "http://localhost:8787",
  ROW_MAC_KEY: "test:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
  CODE_PEPPER: "test:MTEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
  SECRETS_AES_KEY: "test:MjEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
  API_KEY_MAC_KEY: "test:MzEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
  SIGNING_KEY: "test:nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=",
  CHAIN_SOURCES: "{}",
  // No sampled log lines; the tests of these lines set it themselves.
  LOG_SAMPLE: "0",
  SIGN_UP: "open",
  SIGN_IN_PROVIDERS: "{}",
  MAIL_PROVIDER: '{"kind":"mailbox"}',
  MAIL_FROM: "Edgetill <pay@example.com>",
};

// Some projects do not isolate their files, because a third to a half of their time was spent loading the same modules again. None of their files
// may replace a module (vi.mock): files that loaded it before would keep the real one.
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
  // Durable Object classes run in Node. Hashing stays on the main thread, because no schedule could control another thread.
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
        // As in the development server: deliveries that hang must not block the queue.
        compatibilityFlags: ["queue_consumer_no_wait_for_wait_until"],
        // Not bound as EXPORTS, because a deployment usually has no bucket.
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
    // Each file starts its own nodes, and spends more time waiting for them than computing.
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
    // Only failed tests show their console output, but deep campaigns show what they exercised. `--silent=false` shows everything.
    silent: process.env.DEEP ? false : ("passed-only" as const),
    // Two more than the cores of a small machine: tests with real nodes mostly wait, and usually one of the four workers runs such a test
    // (mixed-order.ts).
    maxWorkers: 4,
    sequence: { sequencer: MixedOrder },
    projects: [unit, simulation, await worker(), chain, contract, upgrade, browser],
  },
}));
