// A deployment is upgraded from the previous release, rolled back and upgraded again, while shops sell and their members work. Each combination of a
// release at the edge and one in the objects lasts until every act was done under it.

import type { Twin } from "./deployment.ts";
import type { Combination, Hands, Release } from "./hands.ts";
import type { ReleaseBefore } from "./releases.ts";

interface BothWays {
  readonly twin: Twin;
  readonly before: ReleaseBefore;
  readonly hands: Hands;
  /** How often each act is done under each combination, and the time limit. */
  readonly times: number;
  readonly withinMs: number;
  readonly onProgress?: (line: string) => void;
}

const [OLD, NEW] = ["the release before", "this release"] as const;

const part = (name: string, edge: Release, objects: Release): Combination => ({ name, edge, objects });

/** The combinations in the order in which they occur. */
export const COMBINATIONS: readonly Combination[] = [
  part("before the upgrade", OLD, OLD),
  part("upgraded, old objects", NEW, OLD),
  part("upgraded", NEW, NEW),
  part("brought back, new objects", OLD, NEW),
  part("brought back", OLD, OLD),
  part("upgraded again, old objects", NEW, OLD),
  part("upgraded again", NEW, NEW),
];

export async function playBothWays({ twin, before, hands, times, withinMs, onProgress }: BothWays): Promise<void> {
  let last: Combination | undefined;
  for (const combination of COMBINATIONS) {
    hands.combination = undefined;
    if (last !== undefined && last.edge !== combination.edge) await changeEdge({ twin, before }, combination.edge);
    else if (last !== undefined) await twin.settle();
    last = combination;
    onProgress?.(
      `${combination.name}: the edge runs ${combination.edge}, and objects that were awake ${combination.objects}.`,
    );
    hands.combination = combination;
    await hands.until(combination, times, withinMs);
  }
}

async function changeEdge({ twin, before }: Pick<BothWays, "twin" | "before">, edge: Release): Promise<void> {
  // Two releases run together for some seconds even if the switch is immediate, and after a rollback. Here they do so until all acts are done.
  await twin.upgrade(edge === NEW ? undefined : before.bringBack, "deferred");
}
