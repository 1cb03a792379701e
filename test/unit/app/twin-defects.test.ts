// The twin's defects are reintroduced by edits to the sources, so the lines that the edits name must exist. `npm run twin -- --put-back all` shows
// whether the twin finds each defect.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseAst } from "vitest/node";
import { type Edit, editedTexts } from "../../../scripts/edits.ts";
import { DEFECT_NAMES, DEFECTS, type Defect, PACE, RELEASE_BEFORE } from "../../twin/defects.ts";
import { flagsIn } from "../../twin/flags.ts";
import { putBackTable } from "../../twin/put-back.ts";

const CASES: readonly (readonly [string, Defect])[] = Object.entries(DEFECTS);

function expectProgramsOf(edits: readonly Edit[]): void {
  for (const [file, text] of editedTexts(".", edits)) {
    expect(text).not.toBe(readFileSync(file, "utf8"));
    expect(() => parseAst(text, { lang: "ts" })).not.toThrow();
  }
}

describe("a reintroduced defect", () => {
  it.each(CASES)(
    "%s: each line that it edits occurs exactly once in the sources, and the edited files parse",
    (_, { edits }) => {
      expectProgramsOf([...PACE, ...edits]);
    },
  );

  it("can be combined with edits that imitate the previous release, whose lines also exist exactly once", () => {
    expectProgramsOf([...PACE, ...RELEASE_BEFORE]);
  });

  it.each(CASES.filter(([, { symptom }]) => symptom !== undefined))(
    "%s: is tested by a run of at most a minute",
    (_, { plan, edits }) => {
      expect(plan.seconds + plan.settleSeconds).toBeLessThanOrEqual(60);
      expect(edits.length).toBeGreaterThan(0);
    },
  );

  it("is compared with a run of unedited sources, whose plan includes everything in any defect's plan", () => {
    const { edits, symptom, plan }: Defect = DEFECTS.nothing;
    expect(edits).toEqual([]);
    expect(symptom).toBeUndefined();
    for (const [, each] of CASES) for (const part of Object.keys(each.plan)) expect(plan).toHaveProperty(part);
  });
});

describe("the flag that reintroduces defects", () => {
  it("takes the names of some defects, or all", () => {
    expect(flagsIn(["--put-back", "timers"])).toMatchObject({ mode: "put-back", putBack: ["timers"] });
    expect(flagsIn(["--put-back", "timers,nothing"])).toMatchObject({ putBack: ["timers", "nothing"] });
    expect(flagsIn(["--put-back", "all"])).toMatchObject({ mode: "put-back", putBack: DEFECT_NAMES });
    expect(flagsIn(["--put-back", "toString"])).toContain("some of nothing, one-queue-name");
    expect(flagsIn(["--put-back", "all", "--from-before"])).toContain("plays a day of its own");
  });
});

describe("the table of reintroduced defects", () => {
  const found = {
    name: "timers",
    isGood: true,
    sentence: "MerchantObject 1 had 11 timers at once",
    seconds: 4.06,
  } as const;
  const none = { name: "nothing", isGood: true, sentence: undefined, seconds: 30 } as const;
  const rowsOf = (text: string) => text.split("\n").map((line) => line.trim().split(/\s{2,}/));

  it("has a row for each defect, and a summary that says which results are wrong", () => {
    expect(rowsOf(putBackTable([none, found]))).toEqual([
      [""],
      ["put back", "played", "what said so first"],
      ["nothing", "nothing found", "30.0 s"],
      ["timers", "found", "4.1 s", "MerchantObject 1 had 11 timers at once"],
      [""],
      ["Each defect is found, and without one nothing is wrong."],
      [""],
    ]);
    const missed = { ...found, isGood: false, sentence: undefined };
    const text = putBackTable([{ ...none, isGood: false, sentence: "inv_1: PAID" }, missed]);
    expect(text).toContain("WRONG: nothing, timers.");
    expect(rowsOf(text).slice(2, 4)).toEqual([
      ["nothing", "WRONG", "30.0 s", "inv_1: PAID"],
      ["timers", "NOT FOUND", "4.1 s"],
    ]);
  });
});
