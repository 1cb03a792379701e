// A transaction that a payer or merchant names must be found exactly if a usable source shows it. A paused network must not be asked. Operators'
// switches must be applied once and recorded, and others must not be able to use them.
import { expect, it } from "vitest";
import { NOT_CONFIGURED } from "../../../src/commerce/cursors/cursor.ts";
import type { Findings } from "../../../src/detection/matching/apply-transfers.ts";
import { networkBodyOf } from "../../../src/detection/networks/network-state.ts";
import { networkOf } from "../../support/watcher.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { inLab, NamedHouse, OWN, type Said } from "./named-system.ts";

const HISTORIES = 100;
const STEPS = 30;
const count = schedulesOf(HISTORIES);
const noted = new Map<string, number>();
const note = (what: string) => void noted.set(what, (noted.get(what) ?? 0) + 1);

/** Situations that must have occurred. */
const KINDS = [
  "payer: FOUND",
  "payer: NOT_FOUND",
  "payer: UNAVAILABLE",
  "payer: paused",
  "payer: storage fails",
  "merchant: paused",
  ...["FOUND", "PAYS_OTHERS", "NOT_FOUND", "UNAVAILABLE", "NOT_STORED"].map((outcome) => `merchant: ${outcome}`),
  ...["pause", "resume", "reread", "endReread"].flatMap((act) => [`${act}: done`, `${act}: nothing to do`]),
  ...["paused", "no source", "a source again", "late"].map((what) => `watchdog: ${what}`),
  "reread: another is read",
  "reread: above the cursor",
  "not an operator",
];

const audited = {
  pause: "network.paused",
  resume: "network.resumed",
  reread: "network.reread_requested",
  endReread: "network.reread_ended",
};
type Act = keyof typeof audited;

async function history(seed: number): Promise<void> {
  const system = new NamedHouse(seed);
  await system.stock();
  let isPaused = false;
  for (let step = 0; step < STEPS; step++) {
    system.somethingHappens();
    const act = system.pick([
      "nothing",
      "pass",
      "payer",
      "payer",
      "merchant",
      "merchant",
      "switch",
      "watchdog",
    ] as const);
    if (act === "pass") await system.watcher.pass();
    if (act === "payer") await payer(system, isPaused);
    if (act === "merchant") await merchant(system, isPaused);
    if (act === "watchdog") await watchdog(system, isPaused);
    if (act === "switch") isPaused = await switched(system, isPaused);
  }
}

async function looked<T>(
  system: NamedHouse,
  look: () => Promise<T>,
): Promise<{ readonly outcome: T; readonly looks: readonly Findings[]; readonly asked: number }> {
  const [before, asked] = [system.watcher.looks.length, system.sources.map(({ calls }) => calls.length)];
  const outcome = await look();
  const calls = system.sources.map((source, n) => source.calls.length - (asked[n] ?? 0));
  return { outcome, looks: system.watcher.looks.slice(before), asked: calls.reduce((sum, each) => sum + each, 0) };
}

const paid = (said: Said | undefined, to: readonly string[]) =>
  said === undefined || !("sent" in said) ? [] : said.sent.filter(({ toAddress }) => to.includes(toAddress));

async function payer(system: NamedHouse, isPaused: boolean): Promise<void> {
  const txHash = system.hash();
  if (system.chance(0.15)) {
    // The number of reads that succeed. The first read finds out whether the network is paused, and the second reads its recipients.
    const reads = system.pick([0, 1]);
    note("payer: storage fails");
    const { outcome, looks, asked } = await looked(system, () => system.payerNames(txHash, reads));
    expect([outcome, looks, asked]).toEqual(["UNAVAILABLE", [], 0]);
    return;
  }
  const { outcome, looks, asked } = await looked(system, () => system.payerNames(txHash));
  if (isPaused) {
    note("payer: paused");
    expect([outcome, looks, asked]).toEqual(["UNAVAILABLE", [], 0]);
    return;
  }
  note(`payer: ${outcome}`);
  const said = system.sources
    .map((source) => system.saysOf(source, txHash))
    .filter(({ kind }) => kind !== "down" && kind !== "refused");
  const to = ["own", "derived", "rivals"];
  // Only networks with a mempool show an unconfirmed transaction.
  const shown = (each: Said) => (each.kind === "pending" && system.name !== "BTC" ? [] : paid(each, to));
  const outcomes = said.map((each) => (shown(each).length > 0 ? "FOUND" : "NOT_FOUND"));
  expect(outcomes.length === 0 ? ["UNAVAILABLE"] : outcomes).toContain(outcome);
  expect(looks.length).toBe(outcome === "FOUND" ? 1 : 0);
  for (const look of looks) {
    expectLook(system, look, said, to);
    expect(look.askedBy).toBeUndefined();
  }
}

/** A lookup stores what one source shows, but confirms nothing and undoes nothing. */
function expectLook(system: NamedHouse, look: Findings, said: readonly Said[], to: readonly string[]): void {
  const shown = look.transfers.map(({ toAddress, amountUnits, block }) => [
    toAddress,
    amountUnits,
    block?.hash ?? null,
  ]);
  const told = said.flatMap((each) =>
    "block" in each ? [paid(each, to).map((sent) => [sent.toAddress, sent.amountUnits, each.block?.hash ?? null])] : [],
  );
  expect(told).toContainEqual(shown);
  const height = look.transfers[0]?.block?.height;
  expect(look.heights).toEqual({ tipHeight: height === undefined ? 0 : height - 1, finalizedHeight: null });
  expect([look.isHearsay, look.hasSecond, look.seen]).toEqual([true, system.sources.length === 2, []]);
}

async function merchant(system: NamedHouse, isPaused: boolean): Promise<void> {
  const txHash = system.hash();
  const contended = system.pick([0, 0, 1, 3, 4]);
  const isLeft = system.chance(0.1);
  const { outcome, looks, asked } = await looked(system, () => system.merchantNames(txHash, contended, isLeft));
  if (isPaused) {
    note("merchant: paused");
    expect([outcome, looks, asked]).toEqual(["UNAVAILABLE", [], 0]);
    return;
  }
  note(`merchant: ${outcome}`);
  const to = ["own", "derived"];
  const said = system.sources.map((source) => system.saysOf(source, txHash));
  const isStored = contended < 4 && !isLeft;
  const orders = said.length === 1 ? [said] : [said, said.toReversed()];
  const outcomes = orders.map(([first, second]) => outcomeOf(system, answerOf(first, second), to, isStored));
  expect(outcomes).toContain(outcome);
  for (const look of looks) {
    expectLook(system, look, said, to);
    expect(look.askedBy).toBe(OWN);
  }
  if (outcome !== "FOUND") return;
  expect(looks).toHaveLength(2);
  // The cron restarts a network that it stopped because there was no source.
  const { isResting, lastOutage } = await system.watcher.cursor();
  expect(isResting && lastOutage !== NOT_CONFIGURED).toBe(false);
}

/** An empty or refused answer proves nothing, so the other source is asked, and its answer is final. */
function answerOf(first: Said | undefined, second: Said | undefined): Said | undefined {
  if (first === undefined) return undefined;
  if (first.kind === "down") return second === undefined || second.kind === "down" ? undefined : again(second);
  if (first.kind === "mined" || first.kind === "pending") return first;
  if (second === undefined) return first.kind === "refused" ? undefined : first;
  return second.kind === "down" || second.kind === "refused" ? undefined : second;
}

/** The answer if only one source works: it is final only if it shows the transaction. */
const again = (only: Said): Said | undefined => (only.kind === "mined" || only.kind === "pending" ? only : undefined);

function outcomeOf(system: NamedHouse, said: Said | undefined, to: readonly string[], isStored: boolean) {
  if (said === undefined) return "UNAVAILABLE";
  if (said.kind === "unknown" || (said.kind === "pending" && system.name !== "BTC")) return "NOT_FOUND";
  if (paid(said, to).length === 0) return "PAYS_OTHERS";
  return isStored ? "FOUND" : "NOT_STORED";
}

/** A network without a source is idle until it has one. The cron wakes a network that should have been read, and leaves a paused one alone. */
async function watchdog(system: NamedHouse, isPaused: boolean): Promise<void> {
  const isConfigured = system.chance(0.6);
  const [before, range] = [await system.watcher.cursor(), await system.range()];
  const woken = await system.watchdog(isConfigured);
  const { isResting, lastOutage } = await system.watcher.cursor();
  if (isPaused || !isConfigured) {
    note(isPaused ? "watchdog: paused" : "watchdog: no source");
    const outage = isPaused || before.isResting ? before.lastOutage : NOT_CONFIGURED;
    expect([woken, isResting, lastOutage]).toEqual([[], isPaused ? before.isResting : true, outage]);
    return;
  }
  const isBack = before.isResting && before.lastOutage === NOT_CONFIGURED;
  const lateMs = Math.max(3_000 * networkOf(system.name).pollSeconds, 60_000);
  const isLate = !before.isResting && system.watcher.nowMs - (before.tickedAtMs ?? 0) > lateMs;
  if (isBack) note("watchdog: a source again");
  if (isLate) note("watchdog: late");
  expect(woken).toEqual(isBack || isLate || range !== undefined ? [system.name] : []);
  expect(isResting).toBe(before.isResting && !isBack);
}

/** Returns whether the network is paused afterwards. */
async function switched(system: NamedHouse, isPaused: boolean): Promise<boolean> {
  const act = system.pick(["pause", "resume", "reread", "reread", "endReread"] as const);
  const isOperator = system.chance(0.9);
  const [from, length] = [system.pick([1, 2, 15]), system.pick([0, 1, 50])];
  const [range, cursor, before, woken] = [
    await system.range(),
    await system.watcher.cursor(),
    system.audited(),
    system.woken.length,
  ];
  const switches = system.switches(isOperator);
  const answer = await (act === "reread" ? switches.reread(from, from + length) : switches[act]());
  const isSame = range !== undefined && range.fromHeight === from && range.toHeight === from + length;
  const refusal = refusalOf();
  const isIdle = { pause: isPaused, resume: !isPaused, reread: isSame, endReread: false }[act];
  const isDone = refusal === undefined && !isIdle;
  note(isOperator ? `${act}: ${isDone ? "done" : "nothing to do"}` : "not an operator");
  expect(answer.ok ? undefined : answer.error.code).toBe(refusal);
  const entry = { action: audited[act satisfies Act], target: system.name, actor_id: "usr_11111111111111111111111111" };
  expect(system.audited()).toEqual(isDone ? [...before, entry] : before);
  expect(system.woken.slice(woken)).toEqual(isDone ? [system.name] : []);
  const after = await system.range();
  if (isDone && act === "reread")
    expect(after).toMatchObject({ fromHeight: from, toHeight: from + length, nextHeight: from });
  else if (isDone && act === "endReread") expect(after).toBeUndefined();
  else expect(after).toEqual(range);
  if (answer.ok)
    expect(networkBodyOf(answer.value)).toMatchObject({ network: system.name, hasSource: true, ...bodyOf(after) });
  const isPausedNow = (await system.watcher.cursor()).pausedAtMs !== null;
  const hasSwitched = isDone && (act === "pause" || act === "resume");
  expect(isPausedNow).toBe(hasSwitched ? act === "pause" : isPaused);
  return isPausedNow;

  function refusalOf(): string | undefined {
    if (!isOperator) return "OPERATOR_REQUIRED";
    if (act === "endReread") return range === undefined ? "REREAD_NOT_FOUND" : undefined;
    if (act !== "reread" || isSame) return undefined;
    if (range !== undefined) {
      note("reread: another is read");
      return "REREAD_IN_PROGRESS";
    }
    if (cursor.height !== null && from + length <= cursor.height) return undefined;
    note("reread: above the cursor");
    return "VALIDATION_FAILED";
  }
}

/** A reread in progress as the API must show it. `progress` is the share of the range that has been read. */
function bodyOf(range: Awaited<ReturnType<NamedHouse["range"]>>) {
  // The API may still show a range that is finished.
  if (range === undefined) return {};
  const { fromHeight, toHeight, nextHeight } = range;
  const progress = (nextHeight - fromHeight) / (toHeight - fromHeight + 1);
  return { reread: { fromHeight, toHeight, progress, endedAt: null } };
}

it(
  `a transaction requested by hash is found if a source shows it, and no source of a paused network is asked: ${count} histories`,
  async () => {
    await eachSeed(campaignSeeds(count), (seed) => inLab(() => history(seed), seed));
    expect(KINDS.filter((kind) => !noted.has(kind))).toEqual([]);
  },
  CAMPAIGN_LIMIT_MS,
);
