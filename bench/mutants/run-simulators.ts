// Runs the simulators that reach a mutant, those that execute it most often first, in slices of CPU seconds, until one fails or the seconds are used
// up.
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundleSimulator, type Replaced } from "./bundle.ts";
import { MeasuredProcess } from "./measured-process.ts";

const SEEDS_FILE = "test/simulation/engine/seeds.json";
/**
 * The length of a simulator's first turn. The right simulator kills most mutants within a second, so each simulator gets one second before any gets
 * more.
 */
const FIRST_TURN_SECONDS = 1;
const TURN_SECONDS = 3;

export interface Outcome {
  /** The simulator that failed. */
  readonly killedBy?: string;
  /** The output of that simulator. */
  readonly because?: string;
  /** The total for all simulators that ran. */
  readonly cpuSeconds: number;
  /** Simulators that had a turn, and those that ran to the end. */
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

/** Whether a simulator has taken so much longer than on the unchanged sources that it will not end. */
const hasHung = (cpuSeconds: number, whole = Number.POSITIVE_INFINITY) => cpuSeconds > 3 * whole + 5;

/** Without `replaced` it uses the unchanged sources, on which no simulator may fail. */
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

/** The folder in which simulators run: they read migrations from it, and record failed seeds there. */
export function scratchFolder({ root, scratch }: Pick<Settings, "root" | "scratch">): string {
  mkdirSync(scratch, { recursive: true });
  const folder = mkdtempSync(join(scratch, "mutant-"));
  mkdirSync(join(folder, dirname(SEEDS_FILE)), { recursive: true });
  cpSync(join(root, SEEDS_FILE), join(folder, SEEDS_FILE));
  symlinkSync(join(root, "migrations"), join(folder, "migrations"));
  return folder;
}
