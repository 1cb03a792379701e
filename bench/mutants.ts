// `npm run mutants -- --seed 1 --count 200`: breaks the sources in one place at a time, and counts how many of these mutants the simulators alone
// notice, each within a minute of CPU (docs/design/reliability.md 6).
//   --seed, --count     which mutants
//   --seconds 60        CPU seconds that the simulators may use for one
//   --again             tests the survivors of the last run of this seed once more
//   --part 1/2          every second mutant, for two runs at once
//   --only text         only mutants whose name has the text
//   --list              prints the mutants and runs none
//   --reach             measures again which simulator reaches which code; without it, only new simulators are measured
//   --by text           only simulators whose name has the text; with --reach the measurements of the others are kept
//   --control           runs all simulators on the unchanged sources, to their end
// Results are kept, so an interrupted run resumes.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { randomFrom } from "../test/support/random.ts";
import { Checker } from "./mutants/checker.ts";
import { chooseMutants, lineAt, type Mutant, mutatedText, shuffled } from "./mutants/choose.ts";
import { measureReach, nearest, type Reach, simulatorsOf } from "./mutants/reach.ts";
import { printTable, type Result } from "./mutants/report.ts";
import { runSimulators, type Settings } from "./mutants/run-simulators.ts";
import { scopedFiles } from "./mutants/scope.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "200" },
    seconds: { type: "string", default: "60" },
    again: { type: "boolean", default: false },
    part: { type: "string", default: "1/1" },
    only: { type: "string", default: "" },
    list: { type: "boolean", default: false },
    reach: { type: "boolean", default: false },
    by: { type: "string", default: "" },
    control: { type: "boolean", default: false },
  },
});
const root = join(import.meta.dirname, "..");
const folder = join(root, ".edgetill/mutants");
const wholesFile = join(folder, "control.json");
const settings: Settings = {
  root,
  scratch: join(folder, "scratch"),
  mostSeconds: Number(values.seconds),
  wholes: existsSync(wholesFile) ? JSON.parse(readFileSync(wholesFile, "utf8")) : {},
};
mkdirSync(folder, { recursive: true });
// Each simulator that waits for its turn adds a listener that ends the simulator when this process ends, even after a signal.
process.setMaxListeners(0);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
const say = (line: string) => void process.stdout.write(`${line}\n`);

if (values.control) await runControl();
else await runMutants();

async function runControl(): Promise<void> {
  const wholes: Record<string, number> = {};
  for (const simulator of simulatorsOf(root)) {
    const { killedBy, because, cpuSeconds } = await runSimulators(
      { ...settings, mostSeconds: Number.POSITIVE_INFINITY },
      [simulator],
    );
    say(`${killedBy === undefined ? "green" : "RED"} ${simulator}: ${cpuSeconds.toFixed(1)} s ${because ?? ""}`);
    if (killedBy !== undefined) process.exitCode = 1;
    wholes[simulator] = cpuSeconds;
  }
  writeFileSync(wholesFile, `${JSON.stringify(wholes, null, 1)}\n`);
}

async function runMutants(): Promise<void> {
  const mutants = chosen();
  if (values.list) {
    for (const { id, was, becomes } of mutants) say(`${id}\n  ${was}\n  ${becomes}`);
    return;
  }
  const reaches = await reachOf();
  const results = join(folder, `results-${values.seed}-${values.count}`);
  mkdirSync(results, { recursive: true });
  const [part = 1, parts = 1] = values.part.split("/").map(Number);
  for (const [n, mutant] of shuffled(mutants, randomFrom(Number(values.seed))).entries()) {
    if (n % parts !== part - 1 || !mutant.id.includes(values.only)) continue;
    const file = join(results, `${mutant.id.replaceAll(/[^\w.:-]+/g, "_")}.json`);
    const known: Result | undefined = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
    if (known !== undefined && !(values.again && known.killedBy === undefined)) continue;
    const text = readFileSync(join(root, mutant.file), "utf8");
    if (lineAt(text, mutant.start) !== mutant.was)
      throw new Error(`${mutant.file} has changed since its mutants were drawn: delete them and their results`);
    const simulators = nearest(reaches, mutant.file, mutant.start).filter((each) => each.includes(values.by));
    if (values.by !== "" && simulators.length === 0) continue;
    const outcome = await runSimulators(settings, simulators, { file: mutant.file, text: mutatedText(text, mutant) });
    // A mutant that these simulators miss may still be found by others, so its survival is not recorded.
    if (values.by === "" || outcome.killedBy !== undefined)
      writeFileSync(file, `${JSON.stringify({ ...mutant, ...outcome }, null, 1)}\n`);
    const by =
      outcome.killedBy ?? `SURVIVED ${simulators.length === 0 ? "(no simulator comes by)" : outcome.tried.length}`;
    say(`${outcome.cpuSeconds.toFixed(1).padStart(5)} s  ${mutant.id}: ${by}`);
  }
  const files = readdirSync(results).map((name) => readFileSync(join(results, name), "utf8"));
  say(printTable(files.map((text): Result => JSON.parse(text))));
}

/** The mutants that the seed chose first. They are stored, because the same seed would choose others after files have changed. */
function chosen(): readonly Mutant[] {
  const file = join(folder, `mutants-${values.seed}-${values.count}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8"));
  const checker = new Checker(root);
  const mutants = chooseMutants(checker, scopedFiles(root), { seed: Number(values.seed), count: Number(values.count) });
  checker.close();
  writeFileSync(file, `${JSON.stringify(mutants, null, 1)}\n`);
  return mutants;
}

/** Each simulator's last measurement. Simulators that have no measurement are measured now. */
async function reachOf(): Promise<readonly Reach[]> {
  const file = join(folder, "reach.json");
  const simulators = simulatorsOf(root);
  const known: readonly Reach[] = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
  let reaches = known.filter(({ simulator }) => simulators.includes(simulator));
  const files = scopedFiles(root).map((each) => each.file);
  for (const simulator of simulators) {
    const isKnown = reaches.some((each) => each.simulator === simulator);
    if (isKnown && !(values.reach && simulator.includes(values.by))) continue;
    const measured = await measureReach({ root, folder, files, simulator }, say);
    reaches = [...reaches.filter((each) => each.simulator !== simulator), ...measured];
    writeFileSync(file, JSON.stringify(reaches));
  }
  return reaches;
}
