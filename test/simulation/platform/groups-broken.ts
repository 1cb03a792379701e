// Groups that look right but are wrong, to prove that the simulator would notice.
import { sendBatch } from "../../../src/platform/db/commit-batch.ts";
import { Gatherer } from "../../../src/platform/db/gatherer.ts";
import { type GroupDependencies, Groups } from "../../../src/platform/db/groups.ts";
import { joinStatements } from "../../../src/platform/db/joined-statements.ts";
import type { GroupedChange, Sent } from "../../../src/platform/db/request-group.ts";
import { joiningKeys, type KeyReservation, type Keys } from "../../../src/platform/idempotency/key-reservations.ts";
import { runOnce } from "../../../src/platform/idempotency/run-once.ts";
import type { Made } from "./groups-acts.ts";
import type { Parts } from "./groups-system.ts";

/** Groups whose requests call `write` instead of their own write. */
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
      sleep: deps.sleep,
      stalledMs: 3_000,
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

const takesBrowsersForServers: Partial<Parts> = {
  groupsOf: (deps) => {
    const groups = new Groups(deps);
    return { request: () => groups.request(false) };
  },
};

const countsGroupsOnce: Partial<Parts> = {
  count: (limiter, requests) => {
    const number = limiter.count();
    return Array.from({ length: requests }, () => number);
  },
};

/** Each instance has its own memory of the keys it has seen. */
const dedupesInMemory: Partial<Parts> = {
  keysOf: (stored) => {
    const seen = new Map<string, Promise<KeyReservation>>();
    return joiningKeys({
      ...stored,
      reserve: async (hash, print, nowMs) => {
        const known = await seen.get(hash);
        if (known !== undefined && known.kind !== "conflict") return { ...known, kind: "known", leaseUntilMs: nowMs };
        const first = stored.reserve(`${hash} ${nowMs}`, print, nowMs);
        seen.set(hash, first);
        return first;
      },
      takeOver: async () => ({ kind: "granted", attempt: 2 }),
      endLease: async () => {},
    });
  },
};

const takesUnansweredForDone: Partial<Parts> = {
  groupsOf: (deps) =>
    writing(deps, async (groups, change) => {
      const sent = await groups.request(false).write(change);
      return sent.kind === "unanswered" ? { kind: "answered", results: [] } : sent;
    }),
};

/**
 * If there is no answer, sends the change again without its first statement (the fence), so the database cannot tell that the change was already
 * stored.
 */
const repeatsCommittedHalves: Partial<Parts> = {
  groupsOf: (deps) =>
    writing(deps, async (groups, change) => {
      const sent = await groups.request(false).write(change);
      if (sent.kind !== "unanswered") return sent;
      return groups.request(false).write({ ...change, statements: change.statements.slice(1) });
    }),
};

/** Sends a group as two batches: the first statement, and the others. */
const splitsBatches: Partial<Parts> = {
  groupsOf: (deps) =>
    writing(deps, async (_, { statements }) => {
      const first = await sendBatch(deps, statements.slice(0, 1));
      return first.kind === "answered" && statements.length > 1 ? sendBatch(deps, statements.slice(1)) : first;
    }),
};

/** The batch has no row that shows whether it was committed. */
const hasNoFence: Partial<Parts> = {
  groupsOf: (deps) =>
    writing(deps, (groups, { statements, ...rest }) =>
      groups.request(false).write({ ...rest, statements: statements.slice(1) }),
    ),
};

/** The first attempt gets another operation id, so an attempt that takes over does not continue the same operation. */
const takesOverAnew: Partial<Parts> = {
  once: (deps, request, work) =>
    runOnce(deps, request, (operationId, conflict, tries) =>
      work(tries === 0 ? deps.newOperationId() : operationId, conflict, tries),
    ),
};

const ofAnyBody = (keys: Keys): Keys => ({ ...keys, reserve: (hash, _, nowMs) => keys.reserve(hash, "any", nowMs) });

/** All changes of a group get the outcome of the first one. */
const sharesOutcomes: Partial<Parts> = {
  groupsOf: (deps) => {
    const writes = new Gatherer<GroupedChange, Sent>({
      sleep: deps.sleep,
      stalledMs: 1_000,
      choose: (waiting) => waiting,
      send: async (items) => {
        const [sent, ...others] = await Promise.all(items.map(({ statements }) => sendBatch(deps, statements)));
        return sent === undefined ? [] : [sent, ...others.map(() => sent)];
      },
    });
    return writing(deps, (_, change) => writes.add(change));
  },
};

/** The facts are checked when they are read, but not asserted in the batch. */
const assertsNothing = (made: Made): Made => ({
  ...made,
  statements: made.statements.filter((each) => !("toSQL" in each) || !/into "assertions"/.test(each.toSQL().sql)),
});

export const BROKEN: readonly (readonly [string, Partial<Parts>, RegExp])[] = [
  ["answers before it has committed", answersEarly, /not stored|answered in/],
  ["fails as a whole if one change is refused", refusesWholeGroups, /a bug: .*NOT NULL/],
  ["forgets which customers its changes create", { made: (made) => ({ ...made, subjects: [] }) }, /one email twice/],
  [
    "takes a new address index when it is sent again",
    { allocate: (allocator, name) => allocator.next(name) },
    /addresses handed out/,
  ],
  ["is counted as one request", countsGroupsOnce, /requests were counted as/],
  ["loses the wake-ups of what it commits", forgetsWakes, /without a wake-up/],
  ["loses its idempotency keys when it loses its memory", { keepsKeys: false }, /answered in|stored 2 times/],
  ["knows only the keys of its own instance", dedupesInMemory, /answered in|stored 2 times/],
  ["treats a change without a response as done", takesUnansweredForDone, /not stored/],
  [
    "repeats half of what has committed, without its fence",
    repeatsCommittedHalves,
    /a bug: .*events|not stored|come to rest/,
  ],
  ["commits in two batches", splitsBatches, /customers with|external ids|not stored|stored/],
  ["stores no row that shows whether it has committed", hasNoFence, /a bug: |not stored/],
  [
    "starts a new operation when it should take over an existing one",
    takesOverAnew,
    /answered in|stored 2 times|addresses/,
  ],
  [
    "answers a second body under one key like the first",
    { keysOf: (stored) => joiningKeys(ofAnyBody(stored)) },
    /another body/,
  ],
  ["gives all of its changes the same outcome", sharesOutcomes, /not stored|is stored|for no reason/],
  [
    "decides from memory that a key may be used",
    { mayUse: (memory, credential, isRevoked) => memory.get(credential) ?? !isRevoked },
    /a revoked key was used/,
  ],
  ["keeps copies of revocations in memory", { keep: () => {} }, /no copy/],
  [
    "does not wait for the copy of a revocation",
    { beforeBatch: async (keeping) => void keeping.catch(() => {}) },
    /no copy/,
  ],
  ["treats browsers as servers", takesBrowsersForServers, /browsers in a group|a browser goes before/],
  ["asserts nothing", { made: assertsNothing }, /open invoices where/],
];
