// The tool that counts which mutants the simulators notice: what it mutates, that a seed always selects the same mutants, and that it measures CPU
// time.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Checker } from "../../../bench/mutants/checker.ts";
import { chooseMutants, mutatedText } from "../../../bench/mutants/choose.ts";
import { MeasuredProcess } from "../../../bench/mutants/measured-process.ts";
import { sitesOf } from "../../../bench/mutants/operators.ts";
import { nearest } from "../../../bench/mutants/reach.ts";

const folder = mkdtempSync(join(tmpdir(), "mutants-"));
afterAll(() => rmSync(folder, { recursive: true }));

const SOURCE = `
declare function log(text: string): void;
type State = "OPEN" | "PAID";
/** Less than 1 counts as none. */
export function stateOf(paid: number, asked: number, more: readonly number[]): State {
  if (asked === 0) return "PAID";
  log(paid < asked ? "too little" : "enough");
  const all = [paid, ...more.filter((each) => each > 2)];
  if (paid > 500 && asked > 500) throw new Error(paid < 1 ? "none" : "much");
  return Math.min(...all) >= asked ? "PAID" : "OPEN";
}
`;
writeFileSync(join(folder, "state.ts"), SOURCE);
writeFileSync(
  join(folder, "tsconfig.json"),
  JSON.stringify({ compilerOptions: { strict: true, target: "es2024", types: [], noEmit: true }, include: ["*.ts"] }),
);
const files = [{ area: "all", file: "state.ts" }];

function withChecker<T>(work: (checker: Checker) => T): T {
  const checker = new Checker(folder);
  try {
    return work(checker);
  } finally {
    checker.close();
  }
}

describe("mutants", () => {
  it("change decisions, but not texts, logs or bounds", () => {
    const lines = withChecker((checker) => {
      const { tree, text } = checker.treeOf("state.ts");
      return sitesOf(tree, text, (literal) => checker.statesAt(literal)).map((site) => {
        const changed = mutatedText(text, site).split("\n");
        return `${site.operator} | ${changed.find((line, n) => line !== text.split("\n")[n])?.trim()}`;
      });
    });
    expect(lines).toEqual(
      expect.arrayContaining([
        '=== to !== | if (asked !== 0) return "PAID";',
        'constant + 1 | if (asked === 1) return "PAID";',
        "remove early end | {}",
        'another state | if (asked === 0) return "OPEN";',
        "remove filter | const all = [paid, ...more];",
        "remove spread | const all = [paid, ];",
        '> to >= | if (paid >= 500 && asked > 500) throw new Error(paid < 1 ? "none" : "much");',
        'min to max | return Math.max(...all) >= asked ? "PAID" : "OPEN";',
        'swap branches | return Math.min(...all) >= asked ? "OPEN" : "PAID";',
      ]),
    );
    expect(lines.filter((line) => /too little|501|499|none" : "much"\)\);$|paid <= 1|Less/.test(line))).toEqual([]);
  });

  it("are the same for the same seed, and each is accepted by the compiler", () => {
    const [first, again, other] = [1, 1, 2].map((seed) =>
      withChecker((checker) => {
        const mutants = chooseMutants(checker, files, { seed, count: 6 });
        for (const mutant of mutants) expect(checker.accepts("state.ts", mutatedText(SOURCE, mutant))).toBe(true);
        return mutants.map(({ id }) => id);
      }),
    );
    expect(first).toHaveLength(6);
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
    expect(withChecker((checker) => checker.accepts("state.ts", `${SOURCE}const n: number = "";`))).toBe(false);
  });
});

it("the simulator nearest to a line is the one that reaches the line most often per CPU second", () => {
  const reach = (simulator: string, cpuSeconds: number, count: number) => ({
    simulator,
    cpuSeconds,
    ranges: { "a.ts": [[0, 100, 1] as const, [10, 20, count] as const] },
  });
  const reaches = [reach("never", 1, 0), reach("slow", 10, 50), reach("near", 2, 40)];
  expect(nearest(reaches, "a.ts", 15)).toEqual(["near", "slow"]);
  expect(nearest(reaches, "a.ts", 20)).toEqual(["never", "near", "slow"]);
  expect(nearest(reaches, "a.ts", 200)).toEqual(["near", "slow", "never"]);
  expect(nearest(reaches, "b.ts", 15)).toEqual([]);
});

it("a process is paused when its CPU seconds are used up, and continues from the same point later", async () => {
  const counting = new MeasuredProcess(["-e", "for (;;);"], folder, {});
  expect(await counting.run(0.3)).toBeUndefined();
  const used = counting.cpuSeconds;
  expect(used).toBeGreaterThanOrEqual(0.3);
  expect(await counting.run(0.2)).toBeUndefined();
  expect(counting.cpuSeconds).toBeGreaterThanOrEqual(used + 0.2);
  await counting.kill();
  const failing = new MeasuredProcess(["-e", "console.error('red'); process.exit(1)"], folder, {});
  expect(await failing.run(60)).toEqual({ code: 1, said: "red\n" });
});
