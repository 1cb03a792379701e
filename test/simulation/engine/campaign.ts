// Runs a campaign: thousands of schedules of one scenario, each from its seed. Reports what they actually exercised.
import { readFileSync, writeFileSync } from "node:fs";
import type { Lab } from "./lab.ts";
import { type Client, FATES, type Verdict, World } from "./world.ts";

const SEEDS_FILE = "test/simulation/engine/seeds.json";
/** A fault point that was hit fewer times in a whole campaign does not count as tested. */
export const FEWEST_HITS = 100;
/** A campaign stops after this many problems. If only the verdict matters, as for `npm run mutants`, one is enough. */
export const MOST_PROBLEMS = Number(process.env.MOST_PROBLEMS ?? 5);

export interface Scenario {
  readonly name: string;
  readonly lab: Lab;
  readonly faultChance: number;
  readonly maxSteps: number;
  /** The names of situations that the scenario must note at least once in a campaign. */
  readonly kinds?: readonly string[];
  /** Starts the clients and returns the check of the stored state once everything has ended. */
  start(world: World): () => Verdict;
}

interface Report {
  readonly schedules: number;
  readonly problems: readonly { readonly seed: number; readonly problem: string }[];
  readonly hits: ReadonlyMap<string, number>;
  /** How often the scenario noted each of its kinds, and anything else. */
  readonly notes: ReadonlyMap<string, number>;
  readonly interleavings: number;
  readonly seconds: number;
  readonly steps: number;
}

/** Timeout of every campaign. A campaign ends by its count, so the timeout only stops one that hangs. */
export const CAMPAIGN_LIMIT_MS = 14_400_000;

/**
 * The number of schedules: `count` in `npm run test:all`, and `times` as many with DEEP=1, which is more than a million in all campaigns together.
 */
export function schedulesOf(count: number, times = 100): number {
  return process.env.DEEP ? count * times : count;
}

/** The seeds of a campaign: 1 to `count`, or only FIRST_SEED to LAST_SEED of these if a deep campaign runs in parts. */
export function campaignSeeds(count: number): readonly number[] {
  const { FIRST_SEED = "1", LAST_SEED = String(count) } = process.env;
  return seedsTo(Math.min(count, Number(LAST_SEED)), Number(FIRST_SEED));
}

/** Runs the seeds one after another. Throws for the first one that fails, and names it. */
export async function eachSeed(seeds: readonly number[], run: (seed: number) => Promise<unknown>): Promise<void> {
  for (const seed of seeds) {
    await run(seed).catch((error: unknown) => {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
    });
  }
}

export function seedsTo(count: number, first = 1): readonly number[] {
  return Array.from({ length: Math.max(0, count + 1 - first) }, (_, n) => first + n);
}

/** Prints the progress of a deep campaign fifty times, since it can take hours. */
export function tellProgress(name: string, seed: number, count: number, problems: number): void {
  if (!process.env.DEEP || seed % Math.ceil(count / 50) > 0) return;
  process.stderr.write(`${name}: seed ${seed} of ${count}, ${problems} problems\n`);
}

export async function runSchedule(scenario: Scenario, seed: number, isTraced = false) {
  const world = new World({
    seed,
    faultChance: scenario.faultChance,
    isTraced,
    onEviction: () => scenario.lab.evictObjects(),
  });
  const problem = await scenario.lab.schedule(world, async () => {
    const check = scenario.start(world);
    return (await world.run(scenario.maxSteps)) ?? check();
  });
  return { problem, world };
}

/**
 * Runs the seeds that failed before, which always run, and then seeds 1 to `count`. Stops after a few problems, or at the first one that matches
 * `stopAt`. With `keepsSeeds` a failing seed is stored and its history printed.
 */
export async function runCampaign(
  scenario: Scenario,
  options: { count: number; stopAt?: RegExp; keepsSeeds?: boolean },
): Promise<Report> {
  const startMs = performance.now();
  const hits = new Map<string, number>();
  const notes = new Map(scenario.kinds?.map((kind) => [kind, 0]));
  const points = new Set<string>();
  const interleavings = new Set<number>();
  const problems: { seed: number; problem: string }[] = [];
  let schedules = 0;
  let steps = 0;
  for (const seed of seedsOf(scenario, options)) {
    const { problem, world } = await runSchedule(scenario, seed);
    schedules++;
    if (options.stopAt === undefined) tellProgress(scenario.name, seed, options.count, problems.length);
    steps += world.steps;
    interleavings.add(world.interleaving);
    for (const point of world.points) points.add(point);
    addCounts(hits, world.hits);
    addCounts(notes, world.notes);
    if (problem === undefined) continue;
    problems.push({ seed, problem });
    if (options.stopAt === undefined ? problems.length === MOST_PROBLEMS : options.stopAt.test(problem)) break;
  }
  if (options.keepsSeeds && problems.length > 0) await tell(scenario, problems);
  // A fault that never hit a point counts as zero hits, not as absent.
  for (const point of points) {
    for (const fate of FATES) hits.set(`${point}: ${fate}`, hits.get(`${point}: ${fate}`) ?? 0);
  }
  const seconds = (performance.now() - startMs) / 1_000;
  return { schedules, problems, hits, notes, interleavings: interleavings.size, seconds, steps };
}

function addCounts(all: Map<string, number>, more: ReadonlyMap<string, number>): void {
  for (const [name, n] of more) all.set(name, (all.get(name) ?? 0) + n);
}

/** Prints what a campaign exercised or found. vitest shows it if the test fails, and in deep campaigns (vitest.config.ts, `silent`). */
export function printWithTest(text: string): void {
  // biome-ignore lint/suspicious/noConsole: vitest attributes console output to the test that wrote it
  console.log(text);
}

/** The report as text: one line of sums, then each fault point and how often it was hit. */
export function printReport(scenario: Scenario, report: Report): void {
  const { schedules, steps, seconds } = report;
  const lines = [...report.hits, ...report.notes]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, n]) => `  ${name}: ${n}`);
  const sums = [
    `${schedules} schedules`,
    `${report.interleavings} distinct interleavings`,
    `${Math.round(steps / schedules)} steps each`,
    `${Math.round(schedules / seconds)} schedules/s`,
    `${report.problems.length} problems`,
  ];
  printWithTest(`${scenario.name}: ${sums.join(", ")}\n${lines.join("\n")}`);
}

/** The points that were hit too rarely to count as tested, with their hits. */
export function rareHits(report: Report): string[] {
  return [...report.hits].filter(([, n]) => n < FEWEST_HITS).map(([name, n]) => `${name}: ${n}`);
}

/** The kinds of situations that never occurred. */
export function missingKinds({ notes }: Report): string[] {
  return [...notes].filter(([, n]) => n === 0).map(([name]) => name);
}

function* seedsOf(scenario: Scenario, options: { count: number; keepsSeeds?: boolean }): Generator<number> {
  if (options.keepsSeeds) yield* pastSeedsOf(scenario.name);
  // Broken variants are caught by the first seeds, so their campaigns are never split into parts.
  yield* options.keepsSeeds ? campaignSeeds(options.count) : seedsTo(options.count);
}

/** Seeds that failed before: they always run first. */
export function pastSeedsOf(name: string): readonly number[] {
  return pastSeeds()[name] ?? [];
}

export function keepSeeds(name: string, seeds: readonly number[]): void {
  const past = pastSeeds();
  const known = past[name] ?? [];
  const found = seeds.filter((seed) => !known.includes(seed));
  writeFileSync(SEEDS_FILE, `${JSON.stringify({ ...past, [name]: [...known, ...found] }, null, 2)}\n`);
}

function pastSeeds(): Record<string, number[]> {
  return JSON.parse(readFileSync(SEEDS_FILE, "utf8"));
}

async function tell(scenario: Scenario, problems: readonly { seed: number; problem: string }[]): Promise<void> {
  keepSeeds(
    scenario.name,
    problems.map(({ seed }) => seed),
  );
  const [first] = problems;
  if (first === undefined) return;
  const { world } = await runSchedule(scenario, first.seed, true);
  const list = problems.map(({ seed, problem }) => `seed ${seed}: ${problem}`).join("\n");
  printWithTest(`${scenario.name} FAILS\n${list}\nhistory of seed ${first.seed}:\n${world.trace.join("\n")}`);
}

/** The outcome of one attempt, as its sender sees it: an answer, or a reason to try again. */
export type Attempt<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "again"; readonly afterMs: number };

/**
 * A client that behaves as the interface requires: it repeats its request with the same key and body until it has its answer. If the Worker that
 * serves it crashes, the client sees a lost connection. `onBug` receives every error that is not a storage fault.
 */
export function insist<T>(options: {
  world: World;
  attempt: (client: Client) => Promise<Attempt<T>>;
  onDone: (value: T) => void;
  onBug: (error: unknown) => void;
  isFault: (error: unknown) => boolean;
}): void {
  const { world, attempt, onDone, onBug, isFault } = options;
  const launch = (): void => {
    let hasMovedOn = false;
    const once = (next: () => void) => () => {
      if (!hasMovedOn) next();
      hasMovedOn = true;
    };
    const relaunch = once(launch);
    const client = world.client(relaunch);
    const again = (afterMs: number) => void world.sleepOf(client)(afterMs).then(relaunch);
    attempt(client).then(
      (outcome) => (outcome.kind === "done" ? once(() => onDone(outcome.value))() : again(outcome.afterMs)),
      (error: unknown) => (isFault(error) ? again(500) : onBug(error)),
    );
  };
  launch();
}
