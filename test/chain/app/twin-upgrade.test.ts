// From the previous release to this one, back, and to this one again, in the production twin (test/twin). The previous release is deployed from its
// own checkout, upgraded with real `npm run deploy` and rolled back as the runbook says, while shops sell and members revoke rights. Awake objects
// keep their code for a while after each change, so the edge and the objects run in every combination.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EvmChain, startEvmChain } from "../../../scripts/demo-story/evm-chain.ts";
import { randomFrom } from "../../support/random.ts";
import { COMBINATIONS, playBothWays } from "../../twin/both-ways.ts";
import { Day, type Findings } from "../../twin/day.ts";
import { openTwin, type Twin } from "../../twin/deployment.ts";
import { ACTS, doneUnder, Hands } from "../../twin/hands.ts";
import { TOKEN } from "../../twin/open-shop.ts";
import { answersOf, ReleaseBefore } from "../../twin/releases.ts";
import { signIn } from "../../twin/sign-in.ts";
import { USUAL } from "../../twin/weather.ts";
import { PREVIOUS_RELEASE, whyMissing } from "../../upgrade/previous-release.ts";

const NAME = `stall-${process.pid}`;
const OWNER = "owner@example.com";
const VARIABLES = { POLL_SECONDS: "1", RATE_LIMIT_PER_MINUTE: "100000" };
const DAY = {
  shops: 2,
  rate: 1.5,
  mostOpen: 4,
  seconds: 10,
  paid: 0.4,
  cancelled: 0.2,
  expired: 0.1,
  settleMs: 200_000,
};
const FAULTS = 0.002;
/** How often each act is done under each combination of releases, and how long that may take on a busy machine. */
const TIMES = 1;
const WITHIN_MS = 240_000;

const missing = whyMissing(PREVIOUS_RELEASE);

describe("a deployment of the previous release", () => {
  let chain: EvmChain | undefined;
  let twin: Twin | undefined;
  let before: ReleaseBefore | undefined;
  let hands: Hands;
  let findings: Findings;

  beforeAll(async () => {
    if (missing !== undefined) return;
    chain = await startEvmChain([TOKEN.contract], { blockSeconds: 1 });
    before = new ReleaseBefore({ name: NAME, variables: VARIABLES });
    twin = await openTwin({
      name: NAME,
      weather: USUAL,
      chainUrl: chain.url,
      random: randomFrom(1),
      first: before.deploy,
      manners: { twice: 0.1, latestMs: 1_000 },
      cronEveryMs: 5_000,
      variables: { ...VARIABLES, ...answersOf(NAME) },
    });
    const day = new Day(twin, chain, { ...DAY, random: randomFrom(2) });
    await day.open(await signIn(twin.ask, twin, OWNER));
    before.handOver();
    hands = new Hands({ twin, owner: OWNER, shops: day.shops });
    hands.start();
    twin.gate.weather = { ...USUAL, faults: FAULTS };
    const playing = { twin, before, hands, times: TIMES, withinMs: WITHIN_MS };
    await day.play(() => playBothWays(playing).finally(() => hands.stop()));
    findings = await day.close();
  }, 1_800_000);
  afterAll(async () => {
    await twin?.stop();
    before?.remove();
    await chain?.stop();
  });

  it("is upgraded, rolled back and upgraded again, with every invoice in the state that its history requires and every event sent once", ({
    skip,
  }) => {
    skip(missing !== undefined, missing);
    expect(findings.wrong).toEqual([]);
    expect(findings.created).toBeGreaterThan(30);
    expect(findings.paid).toBeGreaterThan(10);
  });

  it("revokes rights under every combination of old and new code", ({ skip }) => {
    skip(missing !== undefined, missing);
    expect(hands.wrong).toEqual([]);
    const under = COMBINATIONS.filter(({ edge }) => edge === "this release");
    for (const act of ACTS)
      for (const combination of under)
        expect(hands.done.get(doneUnder(combination, act)), combination.name).toBeGreaterThanOrEqual(TIMES);
  });

  it("can only be rolled back to code that exports the object classes added by this release", ({ skip }) => {
    skip(missing !== undefined, missing);
    expect(before?.refusals).toEqual([
      expect.stringContaining("A Durable Object migration has occurred"),
      expect.stringContaining("does not export class"),
    ]);
  });
});
