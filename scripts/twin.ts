// `npm run twin`: the deployment that `npm run deploy` makes, uploaded by real wrangler to an account on loopback and run on workerd in the weather of
// production: a database with a network's latency, stalls and faults, queues that repeat and turn round, crons that run twice or not at all, an upgrade under
// load whose objects keep old code. It plays a day of some shops, and the exit status is 0 only if nothing is wrong at its end; with `--put-back`, only if
// the reintroduced defects are found.
import "./end-with-parent.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { randomFrom } from "../test/support/random.ts";
import { playBothWays } from "../test/twin/both-ways.ts";
import { Day, TOKEN } from "../test/twin/day.ts";
import { openTwin, type Twin } from "../test/twin/deployment.ts";
import { type Flags, flagsIn, HELP, planOf } from "../test/twin/flags.ts";
import { Hands } from "../test/twin/hands.ts";
import { idleReport, playIdle } from "../test/twin/idle.ts";
import { oneAddress } from "../test/twin/one-address.ts";
import { type Outcome, outcomeText, putBack, putBackTable } from "../test/twin/put-back.ts";
import { answersOf, ReleaseBefore } from "../test/twin/releases.ts";
import { reportOf } from "../test/twin/report.ts";
import { rushesOf } from "../test/twin/rush.ts";
import { signIn } from "../test/twin/sign-in.ts";
import { playTable, tableText } from "../test/twin/table.ts";
import { recycling } from "../test/twin/troubles.ts";
import { QUIET_WEATHER } from "../test/twin/weather.ts";
import { PREVIOUS_RELEASE, whyMissing } from "../test/upgrade/previous-release.ts";
import { type EvmChain, startEvmChain } from "./demo-story/evm-chain.ts";

/** How long objects keep their code after an upgrade; the platform's own five minutes, or a fifth of a shorter day. */
const DEFERRED_MS = 300_000;
const SETTLE_MS = 240_000;
/** A day is shorter than a real one, and so is the time between its crons. The table has production's; idle ones are run one after the other. */
const CRON_EVERY_MS = { day: 10_000, table: 60_000, idle: undefined };

const startedMs = Date.now();
const say = (line: string) => console.log(`${((Date.now() - startedMs) / 1_000).toFixed(1).padStart(7)} s  ${line}`);

const flags = flagsIn(process.argv.slice(2));
if (flags === undefined || typeof flags === "string") {
  console.log(flags === undefined ? HELP : `${flags}\n\n${HELP}`);
  process.exit(flags === undefined ? 0 : 2);
}
const missing = flags.isFromBefore ? whyMissing(PREVIOUS_RELEASE) : undefined;
if (missing !== undefined) {
  console.log(`--from-before: ${missing}`);
  process.exit(2);
}

const OWNER = "owner@example.com";
/** How often each act is done in each part of an upgrade both ways, and how long that may take. */
const BOTH_WAYS = { times: 5, withinMs: 300_000 };
const name = `corner-shops-${process.pid}`;

say("Starting a chain, and deploying with real wrangler to an account on loopback ...");
const chain = await startEvmChain([TOKEN.contract], { blockSeconds: 1 });
const ends: (() => Promise<void>)[] = [chain.stop];
const end = async () => {
  for (const stop of ends.splice(0).reverse()) await stop();
};
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void end().then(() => process.exit(130)));
try {
  process.exitCode = flags.mode === "put-back" ? await defects(chain, flags) : await deployed(flags.mode, flags);
} finally {
  await end();
}

type Session = Readonly<Record<string, string>>;

/** One after the other, each on a deployment of its own. */
async function defects(chain: EvmChain, { putBack: names, seed }: Flags): Promise<number> {
  const outcomes: Outcome[] = [];
  for (const defect of names) {
    const outcome = await putBack(defect, { chain, seed, onProgress: say });
    outcomes.push(outcome);
    say(outcomeText(outcome));
  }
  console.log(putBackTable(outcomes));
  return outcomes.every(({ isGood }) => isGood) ? 0 : 1;
}

async function deployed(mode: Exclude<Flags["mode"], "put-back">, flags: Flags): Promise<number> {
  const { seed } = flags;
  const weather = mode === "idle" ? QUIET_WEATHER : flags.weather;
  const cronEveryMs = CRON_EVERY_MS[mode];
  const given = { ...(mode === "day" ? { POLL_SECONDS: "2" } : {}), RATE_LIMIT_PER_MINUTE: "100000" };
  const before = flags.isFromBefore ? new ReleaseBefore({ name, variables: given }) : undefined;
  // At a signal too: the runtime's own hook then ends the process.
  if (before !== undefined) process.once("exit", () => before.remove());
  const twin = await openTwin({
    name,
    weather: { ...weather, faults: 0 },
    chainUrl: chain.url,
    ...(before === undefined ? {} : { first: before.deploy }),
    random: randomFrom(seed),
    clockMs: flags.clockMs,
    manners: { twice: mode === "day" ? 0.05 : 0, latestMs: mode === "day" ? 1_000 : 0 },
    ...(cronEveryMs === undefined ? {} : { cronEveryMs }),
    variables: before === undefined ? given : { ...given, ...answersOf(name) },
  });
  ends.push(twin.stop);
  say(`Deployed as ${twin.origin}. Signing in ...`);
  const session = before === undefined ? await twin.setUp() : await signIn(twin.ask, twin, OWNER);
  return before === undefined
    ? await { day, table, idle }[mode](twin, chain, session, flags)
    : await bothWays(twin, chain, session, flags, before);
}

/** Each plays, prints what it found, and returns the exit status. */
async function day(twin: Twin, chain: EvmChain, session: Session, flags: Flags): Promise<number> {
  const { seconds, stalls, weather, seed } = flags;
  const options = { ...flags, settleMs: SETTLE_MS, random: randomFrom(seed + 1), onProgress: say };
  const day = new Day(twin, chain, options);
  await day.open(session);
  const rushes = await rushesOf(day, twin.gate);
  const [shop] = day.shops;
  const refused = shop === undefined ? [] : await oneAddress(twin, shop);
  say(`${flags.shops} shops are open: ${flags.rate} invoices a second and ${flags.clients} clients, for ${seconds} s.`);
  twin.gate.weather = weather;
  await twin.setObjectFaults({ faults: flags.objectFaults, resets: flags.resets });
  const random = randomFrom(seed + 2);
  const calm = flags.recycleEveryMs > 0 ? recycling(twin, flags.recycleEveryMs, random) : () => {};
  const plan = planOf(flags);
  await day.play(async () => {
    const beganMs = Date.now();
    const until = (atS: number) => sleep(Math.max(0, beganMs + atS * 1_000 - Date.now()));
    for (const [nth, stallS] of stalls.entries()) {
      await until(plan.stallsAt[nth] ?? 0);
      say(`The database answers nothing for ${stallS} s.`);
      twin.gate.stall(stallS * 1_000);
    }
    if (!flags.isUpgraded) return;
    await until(plan.upgradeAt);
    say("Upgrading under load: the edge has the new code, the objects keep the old ...");
    await twin.upgrade();
    await sleep(Math.min(DEFERRED_MS, (seconds * 1_000) / 5));
    say("The objects get the new code.");
    await twin.settle();
  });
  calm();
  say("The day is over. Waiting for what was paid to be seen, and for every event to come ...");
  const findings = await day.close();
  const report = reportOf(twin, { ...findings, wrong: [...findings.wrong, ...rushes.wrong, ...refused] }, options);
  console.log(report.text);
  return report.wrong.length === 0 ? 0 : 1;
}

/** The previous release's behaviour with a reset database, failing objects and clocks is not ours. */
async function bothWays(twin: Twin, chain: EvmChain, session: Session, flags: Flags, before: ReleaseBefore) {
  const random = randomFrom(flags.seed + 1);
  const options = { ...flags, hasPeople: false, settleMs: SETTLE_MS, random, onProgress: say };
  const day = new Day(twin, chain, options);
  await day.open(session);
  const hands = new Hands({ twin, owner: OWNER, shops: day.shops });
  say(`${flags.shops} shops are open; ${flags.rate} invoices a second.`);
  twin.gate.weather = flags.weather;
  before.handOver();
  hands.start();
  await day.play(() =>
    playBothWays({ twin, before, hands, ...BOTH_WAYS, onProgress: say }).finally(() => hands.stop()),
  );
  say("The day is over. Waiting for what was paid to be seen, and for every event to come ...");
  const findings = await day.close();
  // The previous release's timers and jobs, which share one name, are not ours.
  const report = reportOf(twin, { ...findings, wrong: [...findings.wrong, ...hands.wrong] }, options, []);
  console.log(report.text);
  return report.wrong.length === 0 ? 0 : 1;
}

async function table(twin: Twin, chain: EvmChain, session: Session, { spanSeconds, seed }: Flags): Promise<number> {
  const cells = await playTable(twin, chain, session, {
    seconds: spanSeconds,
    random: randomFrom(seed + 1),
    onCell: (cell) =>
      say(`${cell.clients} clients, ${cell.weather}: ${cell.createdASecond.toFixed(1)} creates a second`),
  });
  console.log(`\n${tableText(cells)}\n`);
  return 0;
}

async function idle(twin: Twin, chain: EvmChain, session: Session, flags: Flags): Promise<number> {
  const shop = new Day(twin, chain, { ...flags, shops: 1, settleMs: 0, random: randomFrom(flags.seed) });
  await shop.open(session);
  say("A shop is open, and nobody asks for anything: an hour of crons ...");
  const startMs = Math.floor(Date.now() / 60_000) * 60_000;
  const report = idleReport(await playIdle(twin, { startMs, silenceSeconds: flags.spanSeconds }));
  console.log(report.text);
  return report.wrong.length === 0 ? 0 : 1;
}
