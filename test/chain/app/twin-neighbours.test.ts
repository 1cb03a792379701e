// Two deployments in one account, as docs/operations/deploy.md allows: both run a day at once, and must share nothing.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EvmChain, startEvmChain } from "../../../scripts/demo-story/evm-chain.ts";
import { until } from "../../../scripts/demo-story/until.ts";
import { randomFrom } from "../../support/random.ts";
import type { UploadedBinding } from "../../twin/account-kept.ts";
import { Day, type Findings } from "../../twin/day.ts";
import { openTwin, type Twin } from "../../twin/deployment.ts";
import { TOKEN } from "../../twin/open-shop.ts";
import { NEAR } from "../../twin/weather.ts";

const NAMES = [`north-${process.pid}`, `south-${process.pid}`] as const;
const CRON_EVERY_MS = 5_000;
/** The pause leaves out six crons, where an hour on the platform would leave out sixty. It covers the whole simulated day. */
const CRON_GAP_MS = 6 * CRON_EVERY_MS;
const CRONS_AGAIN_MS = 120_000;
const DAY = { shops: 2, rate: 2, mostOpen: 4, seconds: 10, paid: 0.4, cancelled: 0.2, expired: 0, settleMs: 200_000 };

describe("two deployments in one account", () => {
  let chain: EvmChain;
  const twins: Twin[] = [];
  let findings: readonly Findings[];
  /** How many crons of the first deployment had run when the pause began, and shortly before it ended. */
  const crons: number[] = [];

  beforeAll(async () => {
    chain = await startEvmChain([TOKEN.contract], { blockSeconds: 1 });
    for (const name of NAMES)
      twins.push(
        await openTwin(
          {
            name,
            weather: NEAR,
            chainUrl: chain.url,
            random: randomFrom(1),
            cronEveryMs: CRON_EVERY_MS,
            manners: { twice: 0.1, latestMs: 500 },
            variables: { POLL_SECONDS: "1", RATE_LIMIT_PER_MINUTE: "100000" },
          },
          twins[0],
        ),
      );
    findings = await Promise.all(
      twins.map(async (twin, nth) => {
        const day = new Day(twin, chain, { ...DAY, random: randomFrom(2 + nth) });
        await day.open(await twin.setUp());
        await day.play(async () => {
          if (nth > 0) return;
          // The hour without crons, for the first deployment only. It covers the deployment's whole day.
          twin.pauseCrons(CRON_GAP_MS);
          crons.push(twin.calls.crons);
          await sleep(CRON_GAP_MS - CRON_EVERY_MS / 2);
          crons.push(twin.calls.crons);
          // On a busy machine the next cron may be late.
          await until(
            async () => twin.calls.crons,
            (ran) => ran > (crons[0] ?? 0),
            CRONS_AGAIN_MS,
          );
        });
        return day.close();
      }),
    );
  }, 1_800_000);
  afterAll(async () => {
    for (const twin of twins.toReversed()) await twin.stop();
    await chain?.stop();
  });

  it("have exactly the invoices and events of their own shops", () => {
    expect(findings.map(({ wrong }) => wrong)).toEqual([[], []]);
    for (const { created, paid } of findings) {
      expect(created).toBeGreaterThan(5);
      expect(paid).toBeGreaterThan(0);
    }
  });

  it("lose nothing when the crons of one of them do not run for an hour", () => {
    const [atStart = 0, atEnd] = crons;
    expect(atEnd).toBe(atStart);
    expect(twins[0]?.calls.crons).toBeGreaterThan(atStart);
    expect(findings[0]?.seconds).toBeGreaterThan((CRON_GAP_MS - CRON_EVERY_MS) / 1_000);
  });

  const valuesOf = (type: string, value: (binding: UploadedBinding) => unknown) =>
    NAMES.map((name) => {
      const { bindings = [] } = twins[0]?.account.worker(name)?.uploads.at(-1) ?? {};
      return bindings.filter((binding) => binding.type === type).map((binding) => String(value(binding)));
    });

  it.each([
    ["database", "d1", ({ id }: UploadedBinding) => id, 1],
    ["queue", "queue", ({ queue_name }: UploadedBinding) => queue_name, 2],
    ["rate limit counter", "ratelimit", ({ namespace_id }: UploadedBinding) => namespace_id, 2],
  ])("share no %s", (_, type, value, each) => {
    const values = valuesOf(type, value);
    expect(values.map(({ length }) => length)).toEqual([each, each]);
    expect(new Set(values.flat()).size).toBe(2 * each);
  });

  it("have their own objects, and consume their own queues", () => {
    const scripts = valuesOf("durable_object_namespace", ({ script_name: script = "its own" }) => script);
    expect(new Set(scripts.flat())).toEqual(new Set(["its own"]));
    const queues = twins[0]?.account.queues ?? [];
    expect(queues).toHaveLength(4);
    for (const { name, consumer } of queues) expect(name.startsWith(`${consumer?.script}-`)).toBe(true);
  });
});
