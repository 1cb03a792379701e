// MASTER_KEY is rotated in a production-like deployment while shops sell, by the documented steps and commands (test/twin/rotation.ts).
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EvmChain, startEvmChain } from "../../../scripts/demo-story/evm-chain.ts";
import { randomFrom } from "../../support/random.ts";
import { Day, type Findings } from "../../twin/day.ts";
import { openTwin, type Twin } from "../../twin/deployment.ts";
import { TOKEN } from "../../twin/open-shop.ts";
import { type Rotation, rotateMasterKey } from "../../twin/rotation.ts";
import { NEAR } from "../../twin/weather.ts";

const NAME = `market-${process.pid}`;
const DAY = { shops: 2, rate: 1, mostOpen: 4, seconds: 10, paid: 0.4, cancelled: 0.2, expired: 0.1, settleMs: 200_000 };
const CRON_EVERY_MS = 5_000;

describe("a rotation of MASTER_KEY while shops sell", () => {
  let chain: EvmChain;
  let twin: Twin;
  let findings: Findings;
  let rotation: Rotation | undefined;

  beforeAll(async () => {
    chain = await startEvmChain([TOKEN.contract], { blockSeconds: 1 });
    twin = await openTwin({
      name: NAME,
      weather: NEAR,
      chainUrl: chain.url,
      random: randomFrom(1),
      manners: { twice: 0.1, latestMs: 500 },
      cronEveryMs: CRON_EVERY_MS,
      variables: { POLL_SECONDS: "1", RATE_LIMIT_PER_MINUTE: "100000" },
    });
    const day = new Day(twin, chain, { ...DAY, random: randomFrom(2) });
    const session = await twin.setUp();
    await day.open(session);
    await day.play(async () => {
      while (day.created < DAY.shops * 3) await new Promise((go) => setTimeout(go, 100));
      const { shops } = day;
      // The documented wait of five minutes lasts five crons here.
      const waits = { waitMs: 5 * CRON_EVERY_MS, withinMs: 240_000 };
      rotation = await rotateMasterKey({ twin, name: NAME, shops, session, routes: () => day.routes, ...waits });
    });
    findings = await day.close();
  }, 1_800_000);
  afterAll(async () => {
    await twin?.stop();
    await chain?.stop();
  });

  it("follows the documented steps: the new key is added last, moved to the front, and then left as the only key", () => {
    expect(rotation?.steps).toEqual([["k1", "k2"], ["k2", "k1"], ["k2"]]);
  });

  it("refuses no request, and everything that was signed or encrypted earlier remains readable", () => {
    expect(rotation?.wrong).toEqual([]);
    expect(rotation?.answers).toBeGreaterThan(20);
    expect(rotation?.compared).toBeGreaterThan(4);
  });

  it("has every invoice in the state that its history requires, and every event signed correctly and sent once", () => {
    expect(findings.wrong).toEqual([]);
    expect(findings.created).toBeGreaterThan(10);
  });
});
