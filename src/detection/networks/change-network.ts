// An operator's switches of a network: pause and resume, and reading a range again. Each is written down with its author.
import { assertOperator, selectOperator } from "../../accounts/operators/store.ts";
import type { User } from "../../accounts/users/user.ts";
import { type Network, networkNamed } from "../../chains/networks.ts";
import { pauseWatch, resumeWatch } from "../../commerce/cursors/store.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { AuditAction, AuditFacts, Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change, type Decision } from "../../platform/changes/change.ts";
import type { Statement } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { isUnderWay } from "../rereads/reread.ts";
import { endReread, requestReread } from "../rereads/store.ts";
import type { NetworkState } from "./network-state.ts";
import { type NetworkDependencies, readNetwork } from "./read-networks.ts";
import { assertPause, assertReread } from "./store.ts";

export interface SwitchDependencies extends NetworkDependencies, CommitDependencies {
  /** Makes the network's watcher look at its switches now. */
  wakeWatcher(network: string): void;
}

export interface Act {
  /** As it stands in the path, in any spelling. */
  readonly network: string;
  readonly actor: Pick<User, "id">;
  readonly trail: Trail;
}

/**
 * Keeps the network from being read: its cursor stays, so nothing that waits for it expires, and it is not offered to payers. A pass that has begun
 * may still end. Writes nothing if it is paused already.
 */
export function pauseNetwork(deps: SwitchDependencies, act: Act): Promise<Result<NetworkState, Failure>> {
  return change(deps, subjectOf(deps, act), (state, { auditId }) => {
    const { cursor, network } = state;
    if (cursor !== undefined && cursor.pausedAtMs !== null) return ok({ value: state });
    const statements = [assertPause(deps.db, network, null), pauseWatch(deps.db, network, deps.nowMs)];
    return ok(written(deps, act, state, { auditId, action: "network.paused", statements }));
  }).then(stateNow(deps, act));
}

/** Lets the network be read on from its cursor. Writes nothing if it is not paused. */
export function resumeNetwork(deps: SwitchDependencies, act: Act): Promise<Result<NetworkState, Failure>> {
  return change(deps, subjectOf(deps, act), (state, { auditId }) => {
    const { cursor, network } = state;
    if (cursor === undefined || cursor.pausedAtMs === null) return ok({ value: state });
    const statements = [assertPause(deps.db, network, cursor.pausedAtMs), resumeWatch(deps.db, network, deps.nowMs)];
    return ok(written(deps, act, state, { auditId, action: "network.resumed", statements }));
  }).then(stateNow(deps, act));
}

/**
 * Has a range of blocks read again beside the scan. For the range that is being read already, writes nothing; REREAD_IN_PROGRESS for another one.
 * NETWORK_NOT_WATCHED without a source.
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
    const statements = [
      assertReread(deps.db, network, null),
      requestReread(deps.db, { network, fromHeight, toHeight }, deps),
    ];
    const facts = { after: { fromHeight, toHeight } };
    return ok(written(deps, act, state, { auditId, action: "network.reread_requested", statements, facts }));
  }).then(stateNow(deps, act));
}

/** Ends the read of a range before its end. What was found stays. REREAD_NOT_FOUND if none is going on. */
export function endRange(deps: SwitchDependencies, act: Act): Promise<Result<NetworkState, Failure>> {
  return change<NetworkState, NetworkState>(deps, subjectOf(deps, act), (state, { auditId }) => {
    const { reread, network } = state;
    if (reread === undefined || !isUnderWay(reread)) return err({ code: "REREAD_NOT_FOUND" });
    const statements = [assertReread(deps.db, network, reread.requestedAtMs), endReread(deps.db, reread)];
    const { fromHeight, toHeight, nextHeight } = reread;
    const facts = { before: { fromHeight, toHeight, nextHeight } };
    return ok(written(deps, act, state, { auditId, action: "network.reread_ended", statements, facts }));
  }).then(stateNow(deps, act));
}

function aboveCursor(height: number | null): Failure {
  const message =
    height === null ? "the network has not been read yet" : `must not be above ${height}, the last block that was read`;
  return { code: "VALIDATION_FAILED", details: [{ path: "toHeight", message }] };
}

/** Refuses an unknown network, and an actor who is no operator any more. */
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

function written(
  deps: SwitchDependencies,
  act: Act,
  state: NetworkState,
  of: {
    readonly auditId: Parameters<typeof insertAudit>[2]["id"];
    readonly action: AuditAction;
    readonly statements: readonly Statement[];
    readonly facts?: { readonly before?: AuditFacts; readonly after?: AuditFacts };
  },
): Decision<NetworkState> {
  const { auditId: id, action, facts } = of;
  const entry = { id, merchantId: null, action, target: state.network, ...facts };
  return {
    value: state,
    statements: [
      assertOperator(deps.db, act.actor.id),
      ...of.statements,
      insertAudit(deps.db, act.trail, entry, deps.nowMs),
    ],
    afterwards: async () => deps.wakeWatcher(state.network),
  };
}

/** What is stored now: the change, and whatever the watcher did since. */
function stateNow(deps: SwitchDependencies, { network: named }: Act) {
  return async (done: Result<NetworkState, Failure>): Promise<Result<NetworkState, Failure>> => {
    const network: Network | undefined = networkNamed(named);
    return done.ok && network !== undefined ? readNetwork(deps, network) : done;
  };
}
