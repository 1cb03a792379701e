// Groups that look right but are not. They show that the simulator would notice.
import { sendBatch } from "../../../src/platform/db/commit-batch.ts";
import { Gatherer } from "../../../src/platform/db/gatherer.ts";
import { type GroupDependencies, Groups } from "../../../src/platform/db/groups.ts";
import { joinStatements } from "../../../src/platform/db/joined-statements.ts";
import type { GroupedChange, Sent } from "../../../src/platform/db/request-group.ts";
import type { Parts } from "./groups-house.ts";

/** Groups that write in another way. */
function writing(deps: GroupDependencies, write: (groups: Groups, change: GroupedChange) => Promise<Sent>) {
  const groups = new Groups(deps);
  return {
    request: (isPublic: boolean) => {
      const own = groups.request(isPublic);
      return { ...own, write: (change: GroupedChange) => write(groups, change) };
    },
  };
}

const answersEarly: Partial<Parts> = {
  groupsOf: (deps) =>
    writing(deps, async (groups, change) => {
      groups
        .request(false)
        .write(change)
        .catch(() => {});
      return { kind: "answered", results: [] };
    }),
};

const refusesWholeGroups: Partial<Parts> = {
  groupsOf: (deps) => {
    const writes = new Gatherer<GroupedChange, Sent>({
      ...{ sleep: deps.sleep, stalledMs: 3_000 },
      choose: (waiting) => waiting,
      send: async (items) => {
        const sent = await sendBatch(deps, joinStatements(items.map(({ statements }) => statements)));
        return items.map(() => sent);
      },
    });
    return writing(deps, (_, change) => writes.add(change));
  },
};

const forgetsWakes: Partial<Parts> = {
  groupsOf: ({ db, ...deps }) => new Groups({ ...deps, db: Object.assign(Object.create(db), { listeners: {} }) }),
};

const countsGroupsOnce: Partial<Parts> = {
  count: (limiter, requests) => {
    const number = limiter.count();
    return Array.from({ length: requests }, () => number);
  },
};

export const BROKEN: readonly (readonly [string, Partial<Parts>, RegExp])[] = [
  ["answers before it has committed", answersEarly, /invoices for|answer/],
  ["lets a refused change fail all of it", refusesWholeGroups, /a bug: .*NOT NULL/],
  ["forgets which customers its changes make", { subjectsOf: () => [] }, /one email twice/],
  [
    "takes another index when it is sent again",
    { allocate: (allocator, invoiceId) => allocator.next(invoiceId) },
    /addresses handed out/,
  ],
  ["is counted as one request", countsGroupsOnce, /requests were counted as/],
  ["loses the wake-ups of what it commits", forgetsWakes, /without a wake-up/],
  ["forgets its idempotency keys with its memory", { keepsKeys: false }, /invoices for/],
];
