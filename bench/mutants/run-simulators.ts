// One mutant against the simulators that reach it: the nearest first, in slices of CPU seconds, until one fails or the seconds are used up.
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundleSimulator, type Replaced } from "./bundle.ts";
import { MeasuredProcess } from "./measured-process.ts";

const SEEDS_FILE = "test/simulation/engine/seeds.json";
/** Length of a turn: most mutants die in the right simulator's first second, so each gets one before any gets more. */
const FIRST_TURN_SECONDS = 1;
const TURN_SECONDS = 3;

export interface Outcome {
  /** The simulator that failed. */
  readonly killedBy?: string;
  /** Its output. */
  readonly because?: string;
  /** For all simulators that ran. */
  readonly cpuSeconds: number;
  /** Those that had a turn, and those that ran to the end. */
  readonly tried: readonly string[];
  readonly ended: readonly string[];
}

export interface Settings {
  readonly root: string;
  /** A folder for generated files. */
  readonly scratch: string;
  readonly mostSeconds: number;
  /** CPU seconds of each simulator on the unchanged sources, from its first test to its last (`--control`). */
  readonly wholes?: Readonly<Record<string, number>>;
}

/** A simulator that takes this much longer than on the unchanged sources will not end. */
const hasHung = (cpuSeconds: number, whole = Number.POSITIVE_INFINITY) => cpuSeconds > 3 * whole + 5;

/** Without `replaced`: the unchanged sources, on which no simulator may fail. */
export async function runSimulators(
  settings: Settings,
  simulators: readonly string[],
  replaced?: Replaced,
): Promise<Outcome> {
  const folder = scratchFolder(settings);
  const running: { readonly simulator: string; readonly process: MeasuredProcess }[] = [];
  const ended: string[] = [];
  const told = () => ({
    cpuSeconds: running.reduce((sum, { process }) => sum + process.cpuSeconds, 0),
    tried: running.map(({ simulator }) => simulator),
    ended,
  });
  try {
    const queue = [...simulators];
    for (let simulator = queue.shift(); simulator !== undefined; simulator = queue.shift()) {
      const left = settings.mostSeconds - told().cpuSeconds;
      if (left <= 0) break;
      let process = running.find((each) => each.simulator === simulator)?.process;
      if (process === undefined) {
        process = await start(settings, folder, simulator, replaced);
        running.push({ simulator, process });
      }
      const end = await process.run(Math.min(process.cpuSeconds === 0 ? FIRST_TURN_SECONDS : TURN_SECONDS, left));
      if (end === undefined && hasHung(process.cpuSeconds, settings.wholes?.[simulator]))
        return { killedBy: simulator, because: "does not end", ...told() };
      if (end === undefined) queue.push(simulator);
      else if (end.code === 0) ended.push(simulator);
      else return { killedBy: simulator, because: end.said.trim(), ...told() };
    }
    return told();
  } finally {
    await Promise.all(running.map(({ process }) => process.kill()));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function start(
  { root }: Settings,
  folder: string,
  simulator: string,
  replaced: Replaced | undefined,
): Promise<MeasuredProcess> {
  const bundle = join(folder, `${simulator.replaceAll("/", "_")}.mjs`);
  await bundleSimulator(root, simulator, bundle, replaced);
  return new MeasuredProcess(["--max-old-space-size=2000", bundle], folder, { MOST_PROBLEMS: "1" });
}

/** Where simulators run: they read migrations, and record failed seeds. */
export function scratchFolder({ root, scratch }: Pick<Settings, "root" | "scratch">): string {
  mkdirSync(scratch, { recursive: true });
  const folder = mkdtempSync(join(scratch, "mutant-"));
  mkdirSync(join(folder, dirname(SEEDS_FILE)), { recursive: true });
  cpSync(join(root, SEEDS_FILE), join(folder, SEEDS_FILE));
  symlinkSync(join(root, "migrations"), join(folder, "migrations"));
  return folder;
}
