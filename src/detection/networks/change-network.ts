// What an operator may do with a network: pause and resume it, and have a range read again. Each change is recorded with its author.
import { assertOperator, selectOperator } from "../../accounts/operators/store.ts";
import type { User } from "../../accounts/users/user.ts";
import { networkNamed } from "../../chains/registry/networks.ts";
import { pauseWatch, resumeWatch } from "../../commerce/cursors/store.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { AuditFacts, Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change, type Decision } from "../../platform/changes/change.ts";
import type { AuditAction } from "../../platform/column-values.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Write } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import { isUnderWay, newReread } from "../rereads/reread.ts";
import { endReread, requestReread } from "../rereads/store.ts";
import type { NetworkState } from "./network-state.ts";
import { type NetworkDependencies, readNetwork } from "./read-networks.ts";
import { assertPause, assertReread } from "./store.ts";

export interface SwitchDependencies extends NetworkDependencies, CommitDependencies {
  /** Makes the network's watcher check now whether it is paused or has a range to read. */
  wakeWatcher(network: string): void;
}

/** A network that was never watched. */
const NEVER_READ = { isResting: true, height: null, tipHeight: null } as const;

export interface Act {
  /** The name in the path, in any spelling. */
  readonly network: string;
  readonly actor: Pick<User, "id">;
  readonly trail: Trail;
}

/**
 * Pauses reading the network, or resumes it from its cursor, which is kept. While a network is paused, no invoice that waits for it expires, and it
 * is not offered to payers. A pass that has started may still finish. Writes nothing if nothing changes.
 */
export function setPause(
  deps: SwitchDependencies,
  act: Act,
  isPaused: boolean,
): Promise<Result<NetworkState, Failure>> {
  return change(deps, subjectOf(deps, act), (state, { auditId }) => {
    const { cursor, network } = state;
    const pausedAtMs = cursor?.pausedAtMs ?? null;
    if ((pausedAtMs !== null) === isPaused) return ok({ value: state });
    const write = isPaused ? pauseWatch : resumeWatch;
    const statements = [assertPause(deps.db, network, pausedAtMs), write(deps.db, network, deps.nowMs)];
    const after = { ...state, cursor: { ...NEVER_READ, ...cursor, pausedAtMs: isPaused ? deps.nowMs : null } };
    const action = isPaused ? "network.paused" : "network.resumed";
    return ok(written(deps, act, after, { auditId, action, statements }));
  });
}

/**
 * Requests that a range of blocks is read again alongside the scan. Writes nothing if that range is already being read; REREAD_IN_PROGRESS if another
 * one is. NETWORK_NOT_WATCHED without a source; VALIDATION_FAILED if the range ends above the last block read.
 */
export function requestRange(
  deps: SwitchDependencies,
  act: Act,
  range: { readonly fromHeight: number; readonly toHeight: number },
): Promise<Result<NetworkState, Failure>> {
  return change<NetworkState, NetworkState>(deps, subjectOf(deps, act), (state, { auditId }) => {
    const { cursor, reread, network, hasSource } = state;
    if (!hasSource) return err({ code: "NETWORK_NOT_WATCHED", network });
    const { fromHeight, toHeight } = range;
    if (reread !== undefined && isUnderWay(reread)) {
      const isSame = reread.fromHeight === fromHeight && reread.toHeight === toHeight;
      const { fromHeight: from, toHeight: to } = reread;
      return isSame ? ok({ value: state }) : err({ code: "REREAD_IN_PROGRESS", fromHeight: from, toHeight: to });
    }
    const readHeight = cursor?.height ?? null;
    if (readHeight === null || toHeight > readHeight) return err(aboveCursor(readHeight));
    const begun = newReread({ network, fromHeight, toHeight }, deps.nowMs);
    const statements = [assertReread(deps.db, network, null), requestReread(deps.db, begun)];
    const facts = { after: { fromHeight, toHeight } };
    return ok(
      written(
        deps,
        act,
        { ...state, reread: begun },
        { auditId, action: "network.reread_requested", statements, facts },
      ),
    );
  });
}

/** Stops reading a range early. What was found is kept. REREAD_NOT_FOUND if no range is being read. */
export function endRange(deps: SwitchDependencies, act: Act): Promise<Result<NetworkState, Failure>> {
  return change<NetworkState, NetworkState>(deps, subjectOf(deps, act), (state, { auditId }) => {
    const { reread, network } = state;
    if (reread === undefined || !isUnderWay(reread)) return err({ code: "REREAD_NOT_FOUND" });
    const statements = [assertReread(deps.db, network, reread.requestedAtMs), endReread(deps.db, reread)];
    const { fromHeight, toHeight, nextHeight } = reread;
    const facts = { before: { fromHeight, toHeight, nextHeight } };
    const after = { ...state, reread: undefined };
    return ok(written(deps, act, after, { auditId, action: "network.reread_ended", statements, facts }));
  });
}

function aboveCursor(height: number | null): Failure {
  const message =
    height === null ? "the network has not been read yet" : `must not be above ${height}, the last block that was read`;
  return { code: "VALIDATION_FAILED", details: [{ path: "toHeight", message }] };
}

/** Refuses an unknown network, and an actor who is no longer an operator. */
function subjectOf(deps: SwitchDependencies, { network: named, actor }: Act) {
  const read = async (): Promise<Result<NetworkState, Failure>> => {
    const network = networkNamed(named);
    if (network === undefined) return err({ code: "NETWORK_NOT_FOUND" });
    const operators = await readWithRetry(deps.sleep, async () => selectOperator(deps.db, actor.id));
    if (!operators.ok) return operators;
    return operators.value.length === 0 ? err({ code: "OPERATOR_REQUIRED" }) : readNetwork(deps, network);
  };
  return { name: "a switch of a network", read };
}

/** `after`: the network after the change. */
function written(
  deps: SwitchDependencies,
  act: Act,
  after: NetworkState,
  of: {
    readonly auditId: Parameters<typeof insertAudit>[2]["id"];
    readonly action: AuditAction;
    readonly statements: readonly Write[];
    readonly facts?: { readonly before?: AuditFacts; readonly after?: AuditFacts };
  },
): Decision<NetworkState> {
  const { auditId: id, action, facts } = of;
  const entry = { id, merchantId: null, action, target: after.network, ...facts };
  return {
    value: after,
    statements: [
      assertOperator(deps.db, act.actor.id),
      ...of.statements,
      insertAudit(deps.db, act.trail, entry, deps.nowMs),
    ],
    afterwards: async () => deps.wakeWatcher(after.network),
  };
}
