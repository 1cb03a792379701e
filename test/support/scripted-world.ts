import { Lab } from "../simulation/engine/lab.ts";
import type { Effect } from "../simulation/engine/sqlite-d1.ts";
import { type Client, World } from "../simulation/engine/world.ts";

/** The faults of the next steps at a point, in order. Later steps succeed. */
export type Script = Record<
  string,
  ("happens" | "lost before" | "answer lost" | "hangs" | "lands late" | "overloaded")[]
>;

/**
 * Runs `work` to completion in a simulation whose only faults are scripted. Waiting takes no real time, so a test of a limit of 3 seconds is fast.
 * `seen` counts the steps at each point; `nowMs` is the time since the start.
 */
export async function inScriptedWorld<T>(
  script: Script,
  work: (of: { effect: Effect; client: Client; world: World; lab: Lab }) => Promise<T>,
): Promise<{ result: T; seen: Record<string, number>; elapsedMs: number; lab: Lab }> {
  const lab = new Lab();
  const world = new World({ seed: 1, faultChance: 0, isTraced: false, onEviction: () => {} });
  const startMs = world.nowMs;
  const client = world.client(() => {});
  const seen: Record<string, number> = {};
  const queues = new Map(Object.entries(script).map(([point, fates]) => [point, [...fates]]));
  const real = world.effectOf(client);
  const lost = () => new Error("D1_ERROR: Network connection lost.");
  const effect: Effect = async (point, happen) => {
    seen[point] = (seen[point] ?? 0) + 1;
    const fate = queues.get(point)?.shift() ?? "happens";
    switch (fate) {
      case "happens":
        return real(point, happen);
      case "lost before":
        throw lost();
      case "answer lost":
        await real(point, happen);
        throw lost();
      case "hangs":
        return new Promise(() => {});
      case "lands late":
        void world
          .sleepOf(client)(60_000)
          .then(() => real(point, happen))
          .catch(() => {});
        return new Promise(() => {});
      case "overloaded":
        throw new Error("D1_ERROR: D1 DB is overloaded. Too many requests queued.");
    }
  };
  let outcome: { value: T } | { error: unknown } | undefined;
  let elapsedMs = 0;
  work({ effect, client, world, lab }).then(
    (value) => {
      outcome = { value };
      elapsedMs = world.nowMs - startMs;
    },
    (error: unknown) => {
      outcome = { error };
    },
  );
  await world.run(10_000);
  if (outcome === undefined) throw new Error("the work never came to an end");
  if ("error" in outcome) throw outcome.error;
  return { result: outcome.value, seen, elapsedMs, lab };
}
