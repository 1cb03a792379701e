// Causes a lagging source, a stopped cron and a nearly full database, minute by minute on the test's clock. Checks what `/healthz`, `/metrics`, the
// operators' status and their emails report, when they report it, and that each report ends.
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { JobName } from "../../../src/app/jobs.ts";
import { MINUTE_MS } from "../../../src/lib/time.ts";
import { jobRuns } from "../../../src/platform/db/schema/job-runs.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { operatorAlerts } from "../../../src/platform/db/schema/operator-alerts.ts";
import { users } from "../../../src/platform/db/schema/users.ts";
import { deploymentWith } from "../../support/access.ts";
import { mailsTo } from "../../support/browser.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { seedUser, type TestUser } from "../../support/people.ts";
import { scrape } from "../../support/prometheus.ts";
import { takeMessage } from "../../support/queue-messages.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { testDb } from "../../support/worker-merchant.ts";

const START = Date.parse("2026-12-01T12:00:00Z");
const METRICS_TOKEN = "m".repeat(32);
const CHAIN_SOURCES = JSON.stringify({ ETH: [{ kind: "evm-rpc", url: "https://node.example" }] });

/** A deployment on the test's clock that watches ETH. */
class Deployment {
  minute = 0;
  isCronRunning = true;
  isChainGrowing = true;
  changes: Partial<Env> = {};
  readonly said: string[] = [];
  readonly #chain = new FakeChain({ startMs: START - 99 * 12_000, blockMs: 12_000, blocks: 100 });
  readonly #watcher = new TestWatcher(testDb, "ETH", [new FakeSource(this.#chain, { kind: "evm-rpc" })], START);
  readonly #operator: TestUser;

  private constructor(operator: TestUser) {
    this.#operator = operator;
  }

  static async start(): Promise<Deployment> {
    const of = { network: "ETH", cryptocurrency: "USDT", address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" };
    await watchMethod(testDb, { ...of, nowMs: START, expiresAtMs: START + 1_000 * MINUTE_MS });
    return new Deployment(await seedUser({ operatorSinceMs: START }));
  }

  get #env(): Env {
    return { ...env, CHAIN_SOURCES, METRICS_TOKEN, ...this.changes };
  }

  /** Lets `count` minutes pass; after each one, monitoring queries the deployment. */
  async pass(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      this.minute += 1;
      const nowMs = START + this.minute * MINUTE_MS;
      vi.setSystemTime(nowMs);
      this.#watcher.nowMs = nowMs;
      if (this.isChainGrowing) this.#chain.mineMany(Math.floor((nowMs - this.#chain.tip.timeMs) / 12_000));
      await this.#watcher.pass();
      if (this.isCronRunning) for (const job of ["wake-watchers", "watch-deployment"] as const) await this.#run(job);
      await this.#ask();
    }
  }

  async #run(job: JobName): Promise<void> {
    await takeMessage({ job, minuteMs: Date.now(), runs: 0 }, this.#env);
  }

  /** Reads all reports of the deployment's state, which must agree, and adds what has changed to `said`. */
  async #ask(): Promise<void> {
    const ask = deploymentWith(this.#env);
    const health = await ask("/healthz");
    const status = await ask("/api/v1/operator/status", { headers: this.#operator.headers });
    const metrics = await ask("/metrics", { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
    const reasons = health.json?.reasons as readonly { readonly code: string }[];
    expect(status.json).toMatchObject({ status: reasons.length === 0 ? "OK" : "FAILING", reasons });
    const { samples } = scrape(metrics.text);
    expect(samples.get("edgetill_healthy")).toBe(reasons.length === 0 ? 1 : 0);
    for (const { code } of reasons) expect(samples.get(`edgetill_reasons{code="${code}"}`)).toBe(1);
    expect(health.status).toBe(reasons.length === 0 ? 200 : 503);
    this.#say(`healthz ${health.status} ${reasons.map(({ code }) => code).join(" ")}`.trim());
    const mails = await mailsTo(this.#operator.email);
    for (const { subject } of mails.slice(0, mails.length - this.#mailed).toReversed())
      this.said.push(`${this.minute} mail "${subject}"`);
    this.#mailed = mails.length;
  }

  #mailed = 0;
  #health = "healthz 200";

  #say(health: string): void {
    if (health !== this.#health) this.said.push(`${this.minute} ${health}`);
    this.#health = health;
  }
}

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: START });
  for (const table of [networkCursors, jobRuns, operatorAlerts]) await testDb.delete(table);
  await testDb.update(users).set({ operatorSinceMs: null });
});
afterEach(() => {
  vi.useRealTimers();
});

test("a chain that stops growing at its source is reported to the operators, and so is its recovery", async () => {
  const deployment = await Deployment.start();
  await deployment.pass(2);
  deployment.isChainGrowing = false;
  await deployment.pass(9);
  deployment.isChainGrowing = true;
  await deployment.pass(2);
  expect(deployment.said).toEqual([
    "7 healthz 503 CURSOR_STALE",
    '7 mail "Needs an operator: CURSOR_STALE ETH"',
    "12 healthz 200",
    '12 mail "Over: CURSOR_STALE ETH"',
  ]);
});

test("a cron that stops is reported to the operators by a health check, and so is its recovery", async () => {
  const deployment = await Deployment.start();
  await deployment.pass(2);
  deployment.isCronRunning = false;
  await deployment.pass(70);
  deployment.isCronRunning = true;
  await deployment.pass(2);
  expect(deployment.said).toEqual([
    "7 healthz 503 CRON_STOPPED",
    '7 mail "Needs an operator: CRON_STOPPED"',
    '67 mail "Needs an operator: CRON_STOPPED"',
    "73 healthz 200",
    '73 mail "Over: CRON_STOPPED"',
  ]);
});

test("a nearly full database is reported to the operators, and so is its recovery", async () => {
  const deployment = await Deployment.start();
  await deployment.pass(2);
  deployment.changes = { DATABASE_LIMIT_GB: "0.00001" };
  await deployment.pass(3);
  deployment.changes = { DATABASE_LIMIT_GB: "10" };
  await deployment.pass(2);
  expect(deployment.said).toEqual([
    "3 healthz 503 DATABASE_NEARLY_FULL",
    '3 mail "Needs an operator: DATABASE_NEARLY_FULL"',
    "6 healthz 200",
    '6 mail "Over: DATABASE_NEARLY_FULL"',
  ]);
});

test("no alert is emailed or stored if mail is not configured", async () => {
  const deployment = await Deployment.start();
  const production = { ENVIRONMENT: "production", WEBHOOK_LOOPBACK: "", DEV_CONTROL: "", MAIL_PROVIDER: "" };
  deployment.changes = { ...production, PUBLIC_URL: "https://pay.example", DATABASE_LIMIT_GB: "0.00001" };
  await takeMessage({ job: "watch-deployment", minuteMs: START, runs: 0 }, deployment.changes);
  expect(await testDb.$count(operatorAlerts)).toBe(0);
});

test("in production, /healthz is answered from a value read within the last five seconds", async () => {
  const { createApp } = await import("../../../src/app/app.ts");
  const app = createApp();
  let reads = 0;
  const DB = new Proxy(env.DB, {
    get(target, name) {
      if (name === "batch") reads += 1;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const world = {
    ...env,
    WEBHOOK_LOOPBACK: "",
    DEV_CONTROL: "",
    PUBLIC_URL: "https://pay.example",
    ENVIRONMENT: "production",
    DB,
  };
  const ask = async () =>
    (await app.fetch(new Request("https://pay.example/healthz"), world, createExecutionContext())).status;
  expect(await Promise.all([ask(), ask()])).toEqual([200, 200]);
  // Two concurrent calls send their own queries, so that neither waits for the other.
  expect(reads).toBe(2);
  vi.setSystemTime(START + 4_999);
  expect([await ask(), reads]).toEqual([200, 2]);
  vi.setSystemTime(START + 5_000);
  expect([await ask(), reads]).toEqual([200, 3]);
});

test("/metrics does not exist without its token setting, and refuses a wrong token", async () => {
  const ask = (settings: Partial<Env>, headers: Readonly<Record<string, string>> = {}) =>
    deploymentWith(settings)("/metrics", { headers });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  for (const settings of [{}, { METRICS_TOKEN: "" }, { METRICS_TOKEN: "short" }])
    expect((await ask(settings, bearer("short"))).json).toMatchObject({ statusCode: 404, code: "ROUTE_NOT_FOUND" });
  for (const headers of [{}, bearer("m"), bearer(`${METRICS_TOKEN}m`), { authorization: METRICS_TOKEN }])
    expect((await ask({ METRICS_TOKEN }, headers)).json).toMatchObject({ statusCode: 401, code: "UNAUTHORIZED" });
  const answer = await ask({ METRICS_TOKEN }, bearer(METRICS_TOKEN));
  expect([answer.status, answer.headers.get("content-type")]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  expect(scrape(answer.text).samples.get("edgetill_healthy")).toBe(1);
  const guess = { ...bearer("guess"), "cf-connecting-ip": "203.0.113.7" };
  const limited = { METRICS_TOKEN, RATE_LIMIT_PER_MINUTE: "2" };
  const tries = [await ask(limited, guess), await ask(limited, guess), await ask(limited, guess)];
  expect(tries.map(({ status }) => status)).toEqual([401, 401, 429]);
});
