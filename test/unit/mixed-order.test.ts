import { describe, expect, it } from "vitest";
import { mixed, type Placing } from "../support/mixed-order.ts";

/** Files named "browser 1", "browser 2", and so on. The files of `unit` share loaded modules. */
function filesOf(project: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `${project} ${n + 1}`);
}

function placing(file: string): Placing {
  const [project = ""] = file.split(" ");
  return { project, isSharing: project === "unit", isLong: file === "simulation 3" };
}

const FILES = [
  ...filesOf("browser", 4),
  ...filesOf("chain", 2),
  ...filesOf("simulation", 4),
  ...filesOf("unit", 3),
  ...filesOf("worker", 1),
];
const ORDER = mixed(FILES, placing);

describe("the order of the files in a run", () => {
  it("contains each file once", () => {
    expect(ORDER.toSorted()).toEqual(FILES.toSorted());
  });

  it("has as many files of each project in its first half as in its second, unless the project shares modules", () => {
    const working = ORDER.filter((file) => !placing(file).isSharing && !file.startsWith("worker"));
    const half = working.slice(0, working.length / 2).map((file) => placing(file).project);
    expect(half.toSorted()).toEqual(["browser", "browser", "chain", "simulation", "simulation"]);
  });

  it("starts with a project's longest file, and keeps the order of its other files", () => {
    const of = (project: string) => ORDER.filter((file) => file.startsWith(project));
    expect(of("simulation")).toEqual(["simulation 3", "simulation 1", "simulation 2", "simulation 4"]);
    expect(of("browser")).toEqual(filesOf("browser", 4));
  });

  it("places files that share modules one after another, at the end", () => {
    expect(ORDER.slice(-3)).toEqual(filesOf("unit", 3));
  });
});
