// Describes the results of a mutants run in words.
import type { Mutant } from "./choose.ts";
import type { Outcome } from "./run-simulators.ts";

export type Result = Mutant & Outcome;

export function printTable(results: readonly Result[]): string {
  const killed = results.filter(({ killedBy }) => killedBy !== undefined);
  const survivors = results.filter(({ killedBy }) => killedBy === undefined);
  const by = [...Map.groupBy(killed, ({ killedBy }) => killedBy ?? "")].toSorted(([, a], [, b]) => b.length - a.length);
  const areas = [...Map.groupBy(results, ({ area }) => area)].map(([area, of]) => {
    const dead = of.filter(({ killedBy }) => killedBy !== undefined).length;
    return `| ${area} | ${of.length} | ${dead} |`;
  });
  const seconds = results.map(({ cpuSeconds }) => cpuSeconds).toSorted((a, b) => a - b);
  return [
    `${killed.length} of ${results.length} mutants were killed; median ${seconds[seconds.length >> 1]?.toFixed(1)} CPU seconds, together ${Math.round(seconds.reduce((sum, each) => sum + each, 0))}.`,
    ["", "| area | mutants | killed |", "|---|---|---|", ...areas].join("\n"),
    ["", "| simulator | kills |", "|---|---|", ...by.map(([name, of]) => `| ${name} | ${of.length} |`)].join("\n"),
    [
      "",
      "| survivor | was | becomes |",
      "|---|---|---|",
      ...survivors.map(({ id, was, becomes }) => `| ${id} | \`${was}\` | \`${becomes}\` |`),
    ].join("\n"),
  ].join("\n");
}
