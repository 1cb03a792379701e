// `npm run twin`: the deployment that `npm run deploy` makes, uploaded by real wrangler to an account on loopback and run on workerd in the weather of
// production: a database with a network's latency, stalls and faults, queues that repeat and turn round, crons that run twice or not at all, an upgrade under
// load whose objects keep old code. It plays a day of some shops, and the exit status is 0 only if nothing is wrong at its end.
import { parseArgs } from "node:util";
import "./end-with-parent.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { randomFrom } from "../test/support/random.ts";
import { Day, type DayOptions, TOKEN } from "../test/twin/day.ts";
import { openTwin } from "../test/twin/deployment.ts";
import { reportOf } from "../test/twin/report.ts";
import { CALM, FAR, NEAR, USUAL, type Weather } from "../test/twin/weather.ts";
import { startEvmChain } from "./demo-story/evm-chain.ts";

const HELP = `npm run twin -- [flags]     plays a day of some shops on the deployment as it will live

  --minutes <n>     how long invoices are made (2)
  --shops <n>       how many shops (3)
  --rate <n>        invoices a second, over all shops (5)
  --weather <name>  how far the database is: calm, near, usual, far (usual)
  --stalls <n>      how often it answers nothing for 25 s (1)
  --faults <share>  the share of its calls that fail (0.002)
  --no-upgrade      without an upgrade in the middle
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
const seconds = Number(values.minutes) * 60;
const random = randomFrom(Number(values.seed));
const options: DayOptions = {
  ...{ shops: Number(values.shops), rate: Number(values.rate), seconds, random, onProgress: say },
  ...{ paid: 0.4, cancelled: 0.2, expired: 0.1, settleMs: SETTLE_MS },
};

say("Starting a chain, and deploying with real wrangler to an account on loopback ...");
const chain = await startEvmChain([TOKEN.contract], { blockSeconds: 1 });
const ends: (() => Promise<void>)[] = [chain.stop];
const end = async () => {
  for (const stop of ends.splice(0).reverse()) await stop();
};
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void end().then(() => process.exit(130)));
try {
  const twin = await openTwin({
    ...{ name: `corner-shops-${process.pid}`, weather, chainUrl: chain.url, random },
    manners: { twice: 0.05, latestMs: 1_000 },
    cronEveryMs: 10_000,
    variables: { POLL_SECONDS: "2", RATE_LIMIT_PER_MINUTE: "100000" },
  });
  ends.push(twin.stop);
  say(`Deployed as ${twin.origin}. Opening its set-up link ...`);
  const day = new Day(twin, chain, options);
  await day.open(await twin.setUp());
  say(`${options.shops} shops are open; ${options.rate} invoices a second for ${seconds} s.`);
  twin.gate.weather = { ...weather, faults: Number(values.faults) };
  await day.play(async () => {
    const stalls = Number(values.stalls);
    for (let stall = 0; stall < stalls; stall++) {
      await sleep((seconds * 1_000 * (stall + 1)) / (stalls + 2));
      say(`The database answers nothing for ${STALL_MS / 1_000} s.`);
      twin.gate.stalledUntilMs = Date.now() + STALL_MS;
    }
    if (values["no-upgrade"]) return;
    say("Upgrading under load: the edge has the new code, the objects keep the old ...");
    await twin.upgrade();
    await sleep(Math.min(DEFERRED_MS, (seconds * 1_000) / 5));
    say("The objects get the new code.");
    await twin.settle();
  });
  say("The day is over. Waiting for what was paid to be seen, and for every event to come ...");
  const report = reportOf(twin, await day.close(), options);
  console.log(report.text);
  process.exitCode = report.wrong.length === 0 ? 0 : 1;
} finally {
  await end();
}
