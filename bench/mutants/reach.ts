// How often each simulator executes the code at an offset of a file, from V8's own counts. A simulator that never reaches the code cannot kill a
// mutant there, and one that reaches it often in little time runs first.
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { MeasuredProcess } from "./measured-process.ts";
import { scratchFolder } from "./run-simulators.ts";

/** The first few schedules of a campaign reach nearly everything that the others reach. */
const FEW_SEEDS = "60";
const MOST_SECONDS = 90;

/** A range of offsets and how often it ran; inner ranges come after the enclosing ones. */
type Range = readonly [from: number, to: number, count: number];
/** The ranges of a file's functions and branches, by the file's path below the root. */
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

/** The part of V8's output in a folder that concerns these files. */
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
 * The simulators that reach the code at the offset, highest count per CPU second first. If no simulator reaches the code in its first schedules,
 * returns those that execute most of the file.
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
      // A module's top-level code runs once in every simulator, so the count for the whole file decides between them.
      .toSorted((a, b) => b.rate - a.rate || b.rateInFile - a.rateInFile)
      .map(({ simulator }) => simulator)
  );
}

/** The count of the smallest range that encloses the offset. */
function countAt(ranges: readonly Range[], offset: number): number {
  let best: Range | undefined;
  for (const range of ranges) {
    const [from, to] = range;
    if (offset < from || offset >= to) continue;
    if (best === undefined || to - from <= best[1] - best[0]) best = range;
  }
  return best?.[2] ?? 0;
}

/** Runs a simulator on the unchanged sources with only the first schedules of its campaigns, so a failing test means nothing. */
export async function measureReach(
  of: {
    readonly root: string;
    /** A folder for generated files. */
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
