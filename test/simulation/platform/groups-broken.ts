// Groups that look right but are not, to prove that the simulator would notice.
import { sendBatch } from "../../../src/platform/db/commit-batch.ts";
import { Gatherer } from "../../../src/platform/db/gatherer.ts";
import { type GroupDependencies, Groups } from "../../../src/platform/db/groups.ts";
import { joinStatements } from "../../../src/platform/db/joined-statements.ts";
import type { GroupedChange, Sent } from "../../../src/platform/db/request-group.ts";
import { joiningKeys, type KeyReservation, type Keys } from "../../../src/platform/idempotency/key-reservations.ts";
import { runOnce } from "../../../src/platform/idempotency/run-once.ts";
import type { Made } from "./groups-acts.ts";
import type { Parts } from "./groups-system.ts";

/** Groups that write differently. */
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

/** Each instance remembers for itself which keys it has seen. */
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
 * An unanswered group is sent again in halves, as if nothing of it had been stored, with an extra that makes its changes differ from the first ones.
 */
const repeatsCommittedHalves: Partial<Parts> = {
  groupsOf: (deps) =>
    writing(deps, async (groups, change) => {
      const sent = await groups.request(false).write(change);
      if (sent.kind !== "unanswered") return sent;
      return groups.request(false).write({ ...change, statements: change.statements.slice(1) });
    }),
};

/** A group is two batches: the first part of its changes, and the rest. */
const splitsBatches: Partial<Parts> = {
  groupsOf: (deps) =>
    writing(deps, async (_, { statements }) => {
      const first = await sendBatch(deps, statements.slice(0, 1));
      return first.kind === "answered" && statements.length > 1 ? sendBatch(deps, statements.slice(1)) : first;
    }),
};

/** Nothing shows whether a batch has committed. */
const hasNoFence: Partial<Parts> = {
  groupsOf: (deps) =>
    writing(deps, (groups, { statements, ...rest }) =>
      groups.request(false).write({ ...rest, statements: statements.slice(1) }),
    ),
};

/** A takeover turns an operation into a new one. */
const takesOverAnew: Partial<Parts> = {
  once: (deps, request, work) =>
    runOnce(deps, request, (operationId, conflict, tries) =>
      work(tries === 0 ? deps.newOperationId() : operationId, conflict, tries),
    ),
};

const ofAnyBody = (keys: Keys): Keys => ({ ...keys, reserve: (hash, _, nowMs) => keys.reserve(hash, "any", nowMs) });

/** One outcome for all changes of a group: the first one's. */
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

/** Assertions hold when read, but are not repeated in the batch. */
const assertsNothing = (made: Made): Made => ({
  ...made,
  statements: made.statements.filter((each) => !("toSQL" in each) || !/into "assertions"/.test(each.toSQL().sql)),
});

export const BROKEN: readonly (readonly [string, Partial<Parts>, RegExp])[] = [
  ["answers before it has committed", answersEarly, /not stored|answered in/],
  ["lets a refused change fail all of it", refusesWholeGroups, /a bug: .*NOT NULL/],
  ["forgets which customers its changes make", { made: (made) => ({ ...made, subjects: [] }) }, /one email twice/],
  [
    "takes another index when it is sent again",
    { allocate: (allocator, name) => allocator.next(name) },
    /addresses handed out/,
  ],
  ["is counted as one request", countsGroupsOnce, /requests were counted as/],
  ["loses the wake-ups of what it commits", forgetsWakes, /without a wake-up/],
  ["forgets its idempotency keys with its memory", { keepsKeys: false }, /answered in|stored 2 times/],
  ["knows only the keys of its own instance", dedupesInMemory, /answered in|stored 2 times/],
  ["takes a change without an answer for done", takesUnansweredForDone, /not stored/],
  [
    "repeats half of what has committed, without its fence",
    repeatsCommittedHalves,
    /a bug: .*events|not stored|come to rest/,
  ],
  ["is two batches", splitsBatches, /customers with|external ids|not stored|stored/],
  ["has no row that tells whether it has committed", hasNoFence, /a bug: |not stored/],
  ["makes a new operation of one that is taken over", takesOverAnew, /answered in|stored 2 times|addresses/],
  ["answers a key's second body as its first", { keysOf: (stored) => joiningKeys(ofAnyBody(stored)) }, /another body/],
  ["gives all of its changes one outcome", sharesOutcomes, /not stored|is stored|for no reason/],
  [
    "knows from memory that a key may be used",
    { mayUse: (memory, credential, isRevoked) => memory.get(credential) ?? !isRevoked },
    /a revoked key was used/,
  ],
  ["keeps copies of revocations in memory", { keep: () => {} }, /no copy/],
  [
    "does not wait for the copy of a revocation",
    { beforeBatch: async (keeping) => void keeping.catch(() => {}) },
    /no copy/,
  ],
  ["takes browsers for servers", takesBrowsersForServers, /browsers in a group|a browser goes before/],
  ["asserts nothing", { made: assertsNothing }, /open invoices where/],
];
