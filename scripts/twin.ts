// `npm run twin`: runs the deployment that `npm run deploy` makes, uploaded by real wrangler to an account on loopback, on workerd under production
// conditions: a database with network latency, stalls and faults, queues that repeat and reorder messages, crons that run twice or not at all, and
// an upgrade under load whose objects keep old code. It simulates a day of several shops. The exit status is 0 only if nothing is wrong at the end;
// with `--put-back`, only if the reintroduced defects are found.
import "./end-with-parent.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { randomFrom } from "../test/support/random.ts";
import { playBothWays } from "../test/twin/both-ways.ts";
import { Day } from "../test/twin/day.ts";
import { openTwin, type Twin } from "../test/twin/deployment.ts";
import { type Flags, flagsIn, HELP, planOf } from "../test/twin/flags.ts";
import { Hands } from "../test/twin/hands.ts";
import { idleReport, playIdle } from "../test/twin/idle.ts";
import { oneAddress } from "../test/twin/one-address.ts";
import { TOKEN } from "../test/twin/open-shop.ts";
import { type Outcome, outcomeText, putBack, putBackTable } from "../test/twin/put-back.ts";
import { answersOf, ReleaseBefore } from "../test/twin/releases.ts";
import { reportOf } from "../test/twin/report.ts";
import { rotateMasterKey } from "../test/twin/rotation.ts";
import { rushesOf } from "../test/twin/rush.ts";
import { signIn } from "../test/twin/sign-in.ts";
import { playTable, tableText } from "../test/twin/table.ts";
import { recycling } from "../test/twin/troubles.ts";
import { QUIET_WEATHER } from "../test/twin/weather.ts";
import { PREVIOUS_RELEASE, whyMissing } from "../test/upgrade/previous-release.ts";
import { type EvmChain, startEvmChain } from "./demo-story/evm-chain.ts";

/** How long objects keep their code after an upgrade: five minutes, as on the platform, or a fifth of a shorter day. */
const DEFERRED_MS = 300_000;
const SETTLE_MS = 240_000;
/** The wait after the first step of a MASTER_KEY rotation in production. */
const ROTATION_WAIT_MS = 300_000;
/**
 * The time between crons, by mode. A simulated day is short, so its crons are closer together. The mode `table` uses production's interval, and in
 * the mode `idle` each cron starts when the previous one ends.
 */
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
/** How often each action is performed in each phase of an upgrade and its rollback, and how long a phase may take. */
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

/** Reintroduces one defect after the other, each in its own deployment. */
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
  // This also happens after a signal, because the handler above exits the process.
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

/** `day`, `bothWays`, `table` and `idle` run one mode each, print its result, and return the exit status. */
async function day(twin: Twin, chain: EvmChain, session: Session, flags: Flags): Promise<number> {
  const { seconds, stalls, weather, seed } = flags;
  const options = {
    ...flags,
    hasDeadEndpoints: true,
    settleMs: SETTLE_MS,
    random: randomFrom(seed + 1),
    onProgress: say,
  };
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
  const rotated: string[] = [];
  await day.play(async () => {
    const beganMs = Date.now();
    const until = (atS: number) => sleep(Math.max(0, beganMs + atS * 1_000 - Date.now()));
    for (const [nth, stallS] of stalls.entries()) {
      await until(plan.stallsAt[nth] ?? 0);
      say(`The database answers nothing for ${stallS} s.`);
      twin.gate.stall(stallS * 1_000);
    }
    if (flags.cronGapMs > 0) {
      say(`No cron runs for ${flags.cronGapMs / 1_000} s.`);
      twin.pauseCrons(flags.cronGapMs);
    }
    await until(plan.upgradeAt);
    if (flags.isUpgraded) await upgrade(twin, flags);
    if (!flags.isRotated) return;
    const waits = { waitMs: Math.min(ROTATION_WAIT_MS, deferredMs(flags)), withinMs: SETTLE_MS };
    const rotating = { twin, name, session, shops: day.shops, routes: () => day.routes, onProgress: say };
    rotated.push(...(await rotateMasterKey({ ...rotating, ...waits })).wrong);
  });
  calm();
  say("The day is over. Waiting for what was paid to be seen, and for every event to come ...");
  const findings = await day.close();
  const report = reportOf(
    twin,
    { ...findings, wrong: [...findings.wrong, ...rushes.wrong, ...refused, ...rotated] },
    options,
  );
  console.log(report.text);
  return report.wrong.length === 0 ? 0 : 1;
}

/** How long objects keep their code after an upgrade with the default strategy. */
function deferredMs({ seconds }: Flags): number {
  return Math.min(DEFERRED_MS, (seconds * 1_000) / 5);
}

async function upgrade(twin: Twin, flags: Flags): Promise<void> {
  say("Upgrading under load ...");
  if ((await twin.upgrade(undefined, flags.strategy)) === "immediate")
    return say("The edge and all objects have the new code.");
  say("The edge has the new code, and objects that were awake keep the old ...");
  await sleep(deferredMs(flags));
  await twin.settle();
  say("All objects have the new code.");
}

/** Does not check how the previous release copes with a reset database, failing objects or wrong clocks. */
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
  // Leaves out the findings about timers and jobs, because those of the previous release share one name.
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
