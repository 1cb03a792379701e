// How often each simulator comes by a place in a file, from V8's own counts. A simulator that never comes by cannot kill a mutant there, and one that
// comes by often in little time is asked first.
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { MeasuredProcess } from "./measured-process.ts";
import { scratchFolder } from "./run-simulators.ts";

/** The first schedules of a campaign come by nearly everything that the others do. */
const FEW_SEEDS = "60";
const MOST_SECONDS = 90;

/** A range of offsets and how often it ran; inner ranges come behind the ones around them. */
type Range = readonly [from: number, to: number, count: number];
/** File below the root to the ranges of its functions and branches. */
type Ranges = Readonly<Record<string, readonly Range[]>>;

export interface Reach {
  readonly simulator: string;
  readonly cpuSeconds: number;
  readonly ranges: Ranges;
}

export function simulatorsOf(root: string): readonly string[] {
  return globSync("test/simulation/**/*.test.ts", { cwd: root }).toSorted();
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
    }[];
  }[];
}

/** The part of what V8 wrote into a folder that is about these files. */
function readRanges(root: string, folder: string, files: readonly string[]): Ranges {
  const byUrl = new Map(files.map((file) => [pathToFileURL(join(root, file)).href, file]));
  const ranges: Record<string, Range[]> = {};
  for (const name of readdirSync(folder)) {
    const { result }: Coverage = JSON.parse(readFileSync(join(folder, name), "utf8"));
    for (const { url, functions } of result) {
      const file = byUrl.get(url);
      if (file === undefined) continue;
      ranges[file] = functions.flatMap((each) =>
        each.ranges.map(({ startOffset, endOffset, count }): Range => [startOffset, endOffset, count]),
      );
    }
  }
  return ranges;
}

/**
 * The simulators that come by the place, those that do so most often in a CPU second first. If none does in its first schedules, those that run the
 * most of its file.
 */
export function nearest(reaches: readonly Reach[], file: string, offset: number): readonly string[] {
  const all = reaches.map(({ simulator, cpuSeconds, ranges }) => {
    const of = ranges[file] ?? [];
    const inFile = of.reduce((sum, [, , count]) => sum + count, 0);
    return { simulator, rate: countAt(of, offset) / cpuSeconds, rateInFile: inFile / cpuSeconds };
  });
  const here = all.filter(({ rate }) => rate > 0);
  return (
    (here.length > 0 ? here : all.filter(({ rateInFile }) => rateInFile > 0))
      // What a module does when it is loaded runs once in each.
      .toSorted((a, b) => b.rate - a.rate || b.rateInFile - a.rateInFile)
      .map(({ simulator }) => simulator)
  );
}

/** That of the smallest range around the place. */
function countAt(ranges: readonly Range[], offset: number): number {
  let best: Range | undefined;
  for (const range of ranges) {
    const [from, to] = range;
    if (offset < from || offset >= to) continue;
    if (best === undefined || to - from <= best[1] - best[0]) best = range;
  }
  return best?.[2] ?? 0;
}

/** Runs a simulator on its sources, with the first schedules of its campaigns: which tests are red then says nothing. */
export async function measureReach(
  of: {
    readonly root: string;
    /** A folder for what is made. */
    readonly folder: string;
    readonly files: readonly string[];
    readonly simulator: string;
  },
  say: (line: string) => void,
): Promise<readonly Reach[]> {
  const { root, folder, files, simulator } = of;
  const coverage = mkdtempSync(join(folder, "coverage-"));
  const args = [
    "--max-old-space-size=2000",
    join(import.meta.dirname, "one-simulator.ts"),
    root,
    join(folder, "stripped"),
    simulator,
  ];
  const scratch = scratchFolder({ root, scratch: folder });
  const process = new MeasuredProcess(args, scratch, {
    NODE_V8_COVERAGE: coverage,
    LAST_SEED: FEW_SEEDS,
    MOST_PROBLEMS: "1",
  });
  await process.run(MOST_SECONDS);
  await process.kill();
  const { cpuSeconds } = process;
  const ranges = readRanges(root, coverage, files);
  for (const each of [coverage, scratch]) rmSync(each, { recursive: true });
  say(`${simulator}: ${cpuSeconds.toFixed(1)} s, ${Object.keys(ranges).length} files`);
  return cpuSeconds > 0 ? [{ simulator, cpuSeconds, ranges }] : [];
}
