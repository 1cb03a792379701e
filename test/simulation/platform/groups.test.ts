// Groups of requests, with a fault at every call; and the same with parts of the protocol left out, which must be noticed.
import { describe, expect, it } from "vitest";
import { sendBatch } from "../../../src/platform/db/commit-batch.ts";
import { Gatherer } from "../../../src/platform/db/gatherer.ts";
import { type GroupDependencies, Groups } from "../../../src/platform/db/groups.ts";
import { joinStatements } from "../../../src/platform/db/joined-statements.ts";
import type { GroupedChange, Sent } from "../../../src/platform/db/request-group.ts";
import {
  CAMPAIGN_LIMIT_MS,
  printReport,
  printWithTest,
  rareHits,
  runCampaign,
  schedulesOf,
} from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { groupsScenario, type Parts, WHOLE } from "./groups-scenario.ts";

const count = schedulesOf(5_000, 200);
const CAUGHT_WITHIN = 200;

it(
  `requests of one merchant share their storage calls, and each is answered as if it were alone: ${count} schedules`,
  async () => {
    const scenario = groupsScenario(new Lab(), "groups");
    const report = await runCampaign(scenario, { count, keepsSeeds: true });
    printReport(scenario, report);
    expect(report.problems).toEqual([]);
    expect(rareHits(report)).toEqual([]);
  },
  CAMPAIGN_LIMIT_MS,
);

const inGroups = (deps: GroupDependencies, write: (groups: Groups, change: GroupedChange) => Promise<Sent>) => {
  const groups = new Groups(deps);
  return {
    request: (isPublic: boolean) => {
      const own = groups.request(isPublic);
      return { ...own, write: (change: GroupedChange) => write(groups, change) };
    },
  };
};

const BROKEN: readonly (readonly [string, Partial<Parts>])[] = [
  [
    "answers before the group has committed",
    {
      groupsOf: (deps) =>
        inGroups(deps, async (groups, change) => {
          groups
            .request(false)
            .write(change)
            .catch(() => {});
          return { kind: "answered", results: [] };
        }),
    },
  ],
  [
    "lets a refused change fail its whole group",
    {
      groupsOf: (deps) => {
        const writes = new Gatherer<GroupedChange, Sent>({
          ...{ sleep: deps.sleep, stalledMs: 3_000 },
          choose: (waiting) => waiting,
          send: async (items) => {
            const sent = await sendBatch(deps, joinStatements(items.map(({ statements }) => statements)));
            return items.map(() => sent);
          },
        });
        return inGroups(deps, (_, change) => writes.add(change));
      },
    },
  ],
  ["takes another index when it decides again", { allocate: (allocator, invoiceId) => allocator.next(invoiceId) }],
  ["forgets its idempotency keys with its memory", { keepsKeys: false }],
];

describe(`within ${CAUGHT_WITHIN} schedules the simulator catches a group that`, () => {
  it.each(BROKEN)("%s", async (what, parts) => {
    const report = await runCampaign(groupsScenario(new Lab(), `broken: ${what}`, { ...WHOLE, ...parts }), {
      count: CAUGHT_WITHIN,
      stopAt: /./,
    });
    printWithTest(`${what}: seed ${report.problems[0]?.seed}: ${report.problems[0]?.problem}`);
    expect(report.problems).toHaveLength(1);
  });
});
