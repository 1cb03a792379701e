// The cost of monitoring a create: a create with its log line and data point, compared with the same create without either, in the same run.
import type { Context } from "../context.ts";
import { interleave } from "../interleave.ts";
import type { Outcome } from "../report.ts";
import { createTarget, merchantWithTwoWallets } from "./create-targets.ts";
import { cpu, throughput } from "./figures.ts";

const CONNECTIONS = 16;
/** A difference of 3 % is only visible over many rounds. */
const TIMES_THE_ROUNDS = 8;

export async function createWatched(context: Context): Promise<Outcome> {
  const watched = await context.product("lines and data points", { logSample: "1", hasAnalytics: true });
  const unwatched = await context.product("neither", { logSample: "0" });
  const targets = [
    createTarget("create, watched", watched, await merchantWithTwoWallets(watched)),
    createTarget("create, unwatched", unwatched, await merchantWithTwoWallets(unwatched)),
  ] as const;
  const rounds = context.plan.rounds * TIMES_THE_ROUNDS;
  const [ours, theirs] = await interleave(context, targets, { ...context.plan, rounds, connections: CONNECTIONS });
  const of = {
    what: `create with lines and data points, c = ${CONNECTIONS}`,
    ours,
    baseline: "the same with neither",
    theirs,
  };
  return { figures: [throughput({ ...of, target: { atLeast: 0.97 } }), ...cpu({ ...of, target: { atMost: 1.03 } })] };
}
