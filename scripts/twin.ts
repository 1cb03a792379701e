// `npm run twin`: the deployment that `npm run deploy` makes, uploaded by real wrangler to an account on loopback and run on workerd in the weather of
// production: a database with a network's latency, stalls and faults, queues that repeat and turn round, crons that run twice or not at all, an upgrade under
// load whose objects keep old code. It plays a day of some shops, and the exit status is 0 only if nothing is wrong at its end.
import { parseArgs } from "node:util";
import "./end-with-parent.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { randomFrom } from "../test/support/random.ts";
import { playBothWays } from "../test/twin/both-ways.ts";
import { Day, type DayOptions, TOKEN } from "../test/twin/day.ts";
import { openTwin } from "../test/twin/deployment.ts";
import { Hands } from "../test/twin/hands.ts";
import { signIn } from "../test/twin/people.ts";
import { answersOf, ReleaseBefore } from "../test/twin/releases.ts";
import { reportOf } from "../test/twin/report.ts";
import { rushesOf } from "../test/twin/rush.ts";
import { CALM, FAR, NEAR, USUAL, type Weather } from "../test/twin/weather.ts";
import { PREVIOUS_RELEASE, whyMissing } from "../test/upgrade/previous-release.ts";
import { startEvmChain } from "./demo-story/evm-chain.ts";

const HELP = `npm run twin -- [flags]     plays a day of some shops on the deployment as it will live

  --minutes <n>     how long invoices are made (2)
  --shops <n>       how many shops (3)
  --rate <n>        invoices a second, over all shops (5)
  --weather <name>  how far the database is: calm, near, usual, far (usual)
  --stalls <n>      how often it answers nothing for 25 s (1)
  --faults <share>  the share of its calls that fail (0.002)
  --no-upgrade      without an upgrade in the middle
  --from-before     the deployment begins as one of the release before, made by hand as its documents say; it is upgraded, brought back and upgraded
                    again, while people of the shops take rights away. Each of the seven parts lasts until every act was done in it, and sales as long
  --seed <n>        of what is drawn (1)`;

const WEATHERS: Readonly<Record<string, Weather>> = { calm: CALM, near: NEAR, usual: USUAL, far: FAR };
const STALL_MS = 25_000;
/** How long objects keep their code after an upgrade; the platform's own five minutes, or a fifth of a shorter day. */
const DEFERRED_MS = 300_000;
const SETTLE_MS = 240_000;

const startedMs = Date.now();
const say = (line: string) => console.log(`${((Date.now() - startedMs) / 1_000).toFixed(1).padStart(7)} s  ${line}`);

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "2" },
    shops: { type: "string", default: "3" },
    rate: { type: "string", default: "5" },
    weather: { type: "string", default: "usual" },
    stalls: { type: "string", default: "1" },
    faults: { type: "string", default: "0.002" },
    "no-upgrade": { type: "boolean", default: false },
    "from-before": { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
    help: { type: "boolean", default: false },
  },
});

const LEAST = { minutes: 0.1, shops: 1, rate: 0.1, stalls: 0, faults: 0, seed: 0 } as const;
const wrong = (Object.keys(LEAST) as (keyof typeof LEAST)[]).filter((flag) => !(Number(values[flag]) >= LEAST[flag]));
const weather = WEATHERS[values.weather];
if (values.help || weather === undefined || wrong.length > 0) {
  const [flag] = wrong;
  if (flag !== undefined) console.log(`--${flag} takes a number of at least ${LEAST[flag]}.\n`);
  else if (weather === undefined) console.log(`--weather takes one of ${Object.keys(WEATHERS).join(", ")}.\n`);
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}
const missing = values["from-before"] ? whyMissing(PREVIOUS_RELEASE) : undefined;
if (missing !== undefined) {
  console.log(`--from-before: ${missing}`);
  process.exit(2);
}
const seconds = Number(values.minutes) * 60;
const random = randomFrom(Number(values.seed));
const options: DayOptions = {
  ...{ shops: Number(values.shops), rate: Number(values.rate), seconds, random, onProgress: say },
  ...{ paid: 0.4, cancelled: 0.2, expired: 0.1, settleMs: SETTLE_MS },
};

const OWNER = "owner@example.com";
/** How often each act is done in each part of an upgrade both ways, and how long that may take. */
const BOTH_WAYS = { times: 5, withinMs: 300_000 };
const name = `corner-shops-${process.pid}`;
const own = { POLL_SECONDS: "2", RATE_LIMIT_PER_MINUTE: "100000" };

say("Starting a chain, and deploying with real wrangler to an account on loopback ...");
const chain = await startEvmChain([TOKEN.contract], { blockSeconds: 1 });
const ends: (() => Promise<void>)[] = [chain.stop];
const end = async () => {
  for (const stop of ends.splice(0).reverse()) await stop();
};
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void end().then(() => process.exit(130)));
try {
  const before = values["from-before"] ? new ReleaseBefore({ name, variables: own }) : undefined;
  if (before !== undefined) ends.push(async () => before.remove());
  const first = before === undefined ? {} : { first: before.deploy };
  const twin = await openTwin({
    ...{ name, weather, chainUrl: chain.url, random, ...first },
    manners: { twice: 0.05, latestMs: 1_000 },
    cronEveryMs: 10_000,
    variables: before === undefined ? own : { ...own, ...answersOf(name) },
  });
  ends.push(twin.stop);
  say(`Deployed as ${twin.origin}. Signing in ...`);
  const day = new Day(twin, chain, options);
  await day.open(before === undefined ? await twin.setUp() : await signIn(twin.ask, twin, OWNER));
  // What the release before does with a database that is reset is not ours.
  const rushes = before === undefined ? await rushesOf(day, twin.gate) : { wrong: [] };
  const hands = new Hands({ twin, owner: OWNER, shops: day.shops });
  say(`${options.shops} shops are open; ${options.rate} invoices a second for ${seconds} s.`);
  twin.gate.weather = { ...weather, faults: Number(values.faults) };
  await day.play(async () => {
    const stalls = Number(values.stalls);
    for (let stall = 0; stall < stalls; stall++) {
      await sleep((seconds * 1_000 * (stall + 1)) / (stalls + 2));
      say(`The database answers nothing for ${STALL_MS / 1_000} s.`);
      twin.gate.stalledUntilMs = Date.now() + STALL_MS;
    }
    if (before !== undefined) {
      before.handOver();
      hands.start();
      return playBothWays({ twin, before, hands, ...BOTH_WAYS, onProgress: say }).finally(() => hands.stop());
    }
    if (values["no-upgrade"]) return;
    say("Upgrading under load: the edge has the new code, the objects keep the old ...");
    await twin.upgrade();
    await sleep(Math.min(DEFERRED_MS, (seconds * 1_000) / 5));
    say("The objects get the new code.");
    await twin.settle();
  });
  say("The day is over. Waiting for what was paid to be seen, and for every event to come ...");
  const findings = await day.close();
  const report = reportOf(twin, { ...findings, wrong: [...findings.wrong, ...hands.wrong, ...rushes.wrong] }, options);
  console.log(report.text);
  process.exitCode = report.wrong.length === 0 ? 0 : 1;
} finally {
  await end();
}
