// Transactions that payers and merchants name are found exactly where a usable source shows them; a paused network is not asked; and an
// operator's switch is applied once, by operators only, and recorded.
import { expect, it } from "vitest";
import { NOT_CONFIGURED } from "../../../src/commerce/cursors/cursor.ts";
import type { Findings } from "../../../src/detection/matching/apply-transfers.ts";
import { networkBodyOf } from "../../../src/detection/networks/network-state.ts";
import { networkOf } from "../../support/watcher.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { inLab, NamedHouse, OWN, type Said } from "./named-house.ts";

const HISTORIES = 100;
const STEPS = 30;
const count = schedulesOf(HISTORIES);
const noted = new Map<string, number>();
const note = (what: string) => void noted.set(what, (noted.get(what) ?? 0) + 1);

/** What must have happened. */
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
  const house = new NamedHouse(seed);
  await house.stock();
  let isPaused = false;
  for (let step = 0; step < STEPS; step++) {
    house.somethingHappens();
    const act = house.pick([
      "nothing",
      "pass",
      "payer",
      "payer",
      "merchant",
      "merchant",
      "switch",
      "watchdog",
    ] as const);
    if (act === "pass") await house.watcher.pass();
    if (act === "payer") await payer(house, isPaused);
    if (act === "merchant") await merchant(house, isPaused);
    if (act === "watchdog") await watchdog(house, isPaused);
    if (act === "switch") isPaused = await switched(house, isPaused);
  }
}

async function looked<T>(
  house: NamedHouse,
  look: () => Promise<T>,
): Promise<{ readonly outcome: T; readonly looks: readonly Findings[]; readonly asked: number }> {
  const [before, asked] = [house.watcher.looks.length, house.sources.map(({ calls }) => calls.length)];
  const outcome = await look();
  const calls = house.sources.map((source, n) => source.calls.length - (asked[n] ?? 0));
  return { outcome, looks: house.watcher.looks.slice(before), asked: calls.reduce((sum, each) => sum + each, 0) };
}

const paid = (said: Said | undefined, to: readonly string[]) =>
  said === undefined || !("sent" in said) ? [] : said.sent.filter(({ toAddress }) => to.includes(toAddress));

async function payer(house: NamedHouse, isPaused: boolean): Promise<void> {
  const txHash = house.hash();
  if (house.chance(0.15)) {
    // Whether the network is paused, and its recipients.
    const reads = house.pick([0, 1]);
    note("payer: storage fails");
    const { outcome, looks, asked } = await looked(house, () => house.payerNames(txHash, reads));
    expect([outcome, looks, asked]).toEqual(["UNAVAILABLE", [], 0]);
    return;
  }
  const { outcome, looks, asked } = await looked(house, () => house.payerNames(txHash));
  if (isPaused) {
    note("payer: paused");
    expect([outcome, looks, asked]).toEqual(["UNAVAILABLE", [], 0]);
    return;
  }
  note(`payer: ${outcome}`);
  const said = house.sources
    .map((source) => house.saysOf(source, txHash))
    .filter(({ kind }) => kind !== "down" && kind !== "refused");
  const to = ["own", "derived", "rivals"];
  // Only networks with a mempool show an unconfirmed transaction.
  const shown = (each: Said) => (each.kind === "pending" && house.name !== "BTC" ? [] : paid(each, to));
  const outcomes = said.map((each) => (shown(each).length > 0 ? "FOUND" : "NOT_FOUND"));
  expect(outcomes.length === 0 ? ["UNAVAILABLE"] : outcomes).toContain(outcome);
  expect(looks.length).toBe(outcome === "FOUND" ? 1 : 0);
  for (const look of looks) {
    expectLook(house, look, said, to);
    expect(look.askedBy).toBeUndefined();
  }
}

/** It stores what one source shows, confirms nothing, and takes nothing back. */
function expectLook(house: NamedHouse, look: Findings, said: readonly Said[], to: readonly string[]): void {
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
  expect([look.isHearsay, look.hasSecond, look.seen]).toEqual([true, house.sources.length === 2, []]);
}

async function merchant(house: NamedHouse, isPaused: boolean): Promise<void> {
  const txHash = house.hash();
  const contended = house.pick([0, 0, 1, 3, 4]);
  const isLeft = house.chance(0.1);
  const { outcome, looks, asked } = await looked(house, () => house.merchantNames(txHash, contended, isLeft));
  if (isPaused) {
    note("merchant: paused");
    expect([outcome, looks, asked]).toEqual(["UNAVAILABLE", [], 0]);
    return;
  }
  note(`merchant: ${outcome}`);
  const to = ["own", "derived"];
  const said = house.sources.map((source) => house.saysOf(source, txHash));
  const isStored = contended < 4 && !isLeft;
  const orders = said.length === 1 ? [said] : [said, said.toReversed()];
  const outcomes = orders.map(([first, second]) => outcomeOf(house, answerOf(first, second), to, isStored));
  expect(outcomes).toContain(outcome);
  for (const look of looks) {
    expectLook(house, look, said, to);
    expect(look.askedBy).toBe(OWN);
  }
  if (outcome !== "FOUND") return;
  expect(looks).toHaveLength(2);
  // What the cron stopped for lack of a source, the cron restarts.
  const { isResting, lastOutage } = await house.watcher.cursor();
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

/** The first one that answers is asked, then the other one, which is down. */
const again = (only: Said): Said | undefined => (only.kind === "mined" || only.kind === "pending" ? only : undefined);

function outcomeOf(house: NamedHouse, said: Said | undefined, to: readonly string[], isStored: boolean) {
  if (said === undefined) return "UNAVAILABLE";
  if (said.kind === "unknown" || (said.kind === "pending" && house.name !== "BTC")) return "NOT_FOUND";
  if (paid(said, to).length === 0) return "PAYS_OTHERS";
  return isStored ? "FOUND" : "NOT_STORED";
}

/** A network without a source is idle until it has one; one that should have been read is woken; a paused one is left alone. */
async function watchdog(house: NamedHouse, isPaused: boolean): Promise<void> {
  const isConfigured = house.chance(0.6);
  const [before, range] = [await house.watcher.cursor(), await house.range()];
  const woken = await house.watchdog(isConfigured);
  const { isResting, lastOutage } = await house.watcher.cursor();
  if (isPaused || !isConfigured) {
    note(isPaused ? "watchdog: paused" : "watchdog: no source");
    const outage = isPaused || before.isResting ? before.lastOutage : NOT_CONFIGURED;
    expect([woken, isResting, lastOutage]).toEqual([[], isPaused ? before.isResting : true, outage]);
    return;
  }
  const isBack = before.isResting && before.lastOutage === NOT_CONFIGURED;
  const lateMs = Math.max(3_000 * networkOf(house.name).pollSeconds, 60_000);
  const isLate = !before.isResting && house.watcher.nowMs - (before.tickedAtMs ?? 0) > lateMs;
  if (isBack) note("watchdog: a source again");
  if (isLate) note("watchdog: late");
  expect(woken).toEqual(isBack || isLate || range !== undefined ? [house.name] : []);
  expect(isResting).toBe(before.isResting && !isBack);
}

/** Returns whether the network is paused afterwards. */
async function switched(house: NamedHouse, isPaused: boolean): Promise<boolean> {
  const act = house.pick(["pause", "resume", "reread", "reread", "endReread"] as const);
  const isOperator = house.chance(0.9);
  const [from, length] = [house.pick([1, 2, 15]), house.pick([0, 1, 50])];
  const [range, cursor, before, woken] = [
    await house.range(),
    await house.watcher.cursor(),
    house.audited(),
    house.woken.length,
  ];
  const switches = house.switches(isOperator);
  const answer = await (act === "reread" ? switches.reread(from, from + length) : switches[act]());
  const isSame = range !== undefined && range.fromHeight === from && range.toHeight === from + length;
  const refusal = refusalOf();
  const isIdle = { pause: isPaused, resume: !isPaused, reread: isSame, endReread: false }[act];
  const isDone = refusal === undefined && !isIdle;
  note(isOperator ? `${act}: ${isDone ? "done" : "nothing to do"}` : "not an operator");
  expect(answer.ok ? undefined : answer.error.code).toBe(refusal);
  const entry = { action: audited[act satisfies Act], target: house.name, actor_id: "usr_11111111111111111111111111" };
  expect(house.audited()).toEqual(isDone ? [...before, entry] : before);
  expect(house.woken.slice(woken)).toEqual(isDone ? [house.name] : []);
  const after = await house.range();
  if (isDone && act === "reread")
    expect(after).toMatchObject({ fromHeight: from, toHeight: from + length, nextHeight: from });
  else if (isDone && act === "endReread") expect(after).toBeUndefined();
  else expect(after).toEqual(range);
  if (answer.ok)
    expect(networkBodyOf(answer.value)).toMatchObject({ network: house.name, hasSource: true, ...bodyOf(after) });
  const isPausedNow = (await house.watcher.cursor()).pausedAtMs !== null;
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

/** How much of the range is read; 0 before it starts. */
function bodyOf(range: Awaited<ReturnType<NamedHouse["range"]>>) {
  // A range that has ended may still be shown.
  if (range === undefined) return {};
  const { fromHeight, toHeight, nextHeight } = range;
  const progress = (nextHeight - fromHeight) / (toHeight - fromHeight + 1);
  return { reread: { fromHeight, toHeight, progress, endedAt: null } };
}

it(
  `a named transaction is found where a source shows it, and a paused network is left alone: ${count} histories`,
  async () => {
    await eachSeed(campaignSeeds(count), (seed) => inLab(() => history(seed), seed));
    expect(KINDS.filter((kind) => !noted.has(kind))).toEqual([]);
  },
  CAMPAIGN_LIMIT_MS,
);
