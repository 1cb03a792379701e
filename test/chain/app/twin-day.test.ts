// A short day on a production-like deployment (test/twin): deployed by real wrangler under its own name, with a network's latency and faults between
// the Worker and its database, queues that repeat messages, and an upgrade whose objects keep their code. `npm run twin` runs longer days.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EvmChain, startEvmChain } from "../../../scripts/demo-story/evm-chain.ts";
import { randomFrom } from "../../support/random.ts";
import { Day, type Findings } from "../../twin/day.ts";
import { openTwin, type Twin } from "../../twin/deployment.ts";
import { oneAddress } from "../../twin/one-address.ts";
import { TOKEN } from "../../twin/open-shop.ts";
import { wrongOf } from "../../twin/report.ts";
import { type Rushes, rushesOf } from "../../twin/rush.ts";
import { namesIn, tracesIn, twinSources } from "../../twin/traces.ts";
import { USUAL } from "../../twin/weather.ts";

const FAULTS = 0.005;
const OBJECT_FAULTS = 0.02;
const DAY = {
  shops: 3,
  rate: 4,
  mostOpen: 8,
  seconds: 25,
  paid: 0.4,
  cancelled: 0.2,
  expired: 0.15,
  settleMs: 200_000,
  hasDeadEndpoints: true,
};

describe("a production-like deployment", () => {
  let chain: EvmChain;
  let twin: Twin;
  let findings: Findings;
  let rushes: Rushes;
  let refused: readonly string[] | undefined;

  beforeAll(async () => {
    chain = await startEvmChain([TOKEN.contract], { blockSeconds: 1 });
    twin = await openTwin({
      name: `kiosk-${process.pid}`,
      weather: USUAL,
      chainUrl: chain.url,
      random: randomFrom(1),
      manners: { twice: 0.1, latestMs: 1_000 },
      cronEveryMs: 5_000,
      variables: { POLL_SECONDS: "1", RATE_LIMIT_PER_MINUTE: "100000" },
    });
    const day = new Day(twin, chain, { ...DAY, random: randomFrom(2) });
    await day.open(await twin.setUp());
    rushes = await rushesOf(day, twin.gate);
    const [shop] = day.shops;
    if (shop !== undefined) refused = await oneAddress(twin, shop);
    twin.gate.weather = { ...USUAL, faults: FAULTS };
    await twin.setObjectFaults({ faults: OBJECT_FAULTS, resets: 0 });
    await day.play(async () => {
      await twin.upgrade();
      await twin.settle();
    });
    findings = await day.close();
  }, 1_800_000);
  afterAll(async () => {
    await twin?.stop();
    await chain?.stop();
  });

  it("has every invoice in the state that its history requires, and sends every event once", () => {
    expect(findings.wrong).toEqual([]);
    expect(findings.created).toBeGreaterThan(20);
    expect(findings.paid).toBeGreaterThan(5);
    expect(findings.events).toBeGreaterThan(findings.created * 2);
  });

  it("records failed deliveries to endpoints that hang or refuse, disables an endpoint that is gone, and delivers to a good one", () => {
    const of = (manner: string) => findings.endpoints.find((each) => each.manner === manner);
    expect(of("silent")).toMatchObject({ succeeded: 0, disabledReason: null });
    expect(of("silent")?.failed).toBeGreaterThan(0);
    expect(of("refusing")?.failed).toBeGreaterThan(0);
    expect(of("gone")).toMatchObject({ succeeded: 0, failed: 0, disabledReason: "GONE" });
    expect(of("gone")?.attempts).toBeGreaterThan(0);
    expect(of("good")?.succeeded).toBeGreaterThan(20);
  });

  it("sends a database that is being reset only one query on behalf of all waiting requests", () => {
    expect(rushes.wrong).toEqual([]);
    expect(rushes.reset).toBeGreaterThan(0);
    expect(rushes.writes).toBeGreaterThan(0);
  });

  it("answers a wrong key with 401, even after many valid requests from the same IP address", () => {
    expect(refused).toEqual([]);
  });

  it("had slow and failing storage calls, and queues named after the deployment", () => {
    expect(twin.gate.counts.failed).toBeGreaterThan(0);
    expect(
      twin.gate.counts.times.toSorted((a, b) => a - b)[Math.floor(twin.gate.counts.times.length / 2)],
    ).toBeGreaterThan(USUAL.read.p50);
    expect(twin.account.queues.map(({ name, consumer }) => [name, consumer?.script])).toEqual([
      [`kiosk-${process.pid}-webhooks`, `kiosk-${process.pid}`],
      [`kiosk-${process.pid}-jobs`, `kiosk-${process.pid}`],
    ]);
  });

  it("never has many timers in one object, and never has a job that fails without a known cause", () => {
    expect(wrongOf(twin)).toEqual([]);
  });

  it("had failing calls to Durable Objects while it ran", () => {
    const troubles = [...twin.troubles].filter(([kind]) => kind !== "recycled").map(([, { length }]) => length);
    expect(troubles.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  });

  it("was uploaded without package names or any of the twin's code, and its objects take new code at once", () => {
    const upload = twin.account.worker(`kiosk-${process.pid}`)?.uploads.at(-1);
    expect(upload?.metadata.package_dependencies).toBeUndefined();
    expect(twin.account.strategies).toEqual(["immediate", "immediate"]);
    const code = upload?.modules.find(({ name }) => name === upload.mainModule)?.content.toString() ?? "";
    expect(code.length).toBeGreaterThan(1_000_000);
    expect(tracesIn(code, namesIn(twinSources()))).toEqual([]);
  });

  it("has a separate counter for each rate limit on callers", () => {
    const limits = twin.account.worker(`kiosk-${process.pid}`)?.uploads.at(-1)?.bindings ?? [];
    const numbers = limits.filter(({ type }) => type === "ratelimit").map(({ namespace_id }) => namespace_id);
    expect(numbers).toHaveLength(2);
    expect(new Set(numbers).size).toBe(2);
  });
});
