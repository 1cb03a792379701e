// The import after the database was restored to an earlier minute (docs/design/reliability.md, "Restores"). Durable Objects are not restored, so they
// still have what the database has lost. A run is bounded and continues where the last one ended. It may be repeated: a repeated step changes
// nothing.
import { chunksOf } from "../../lib/chunks.ts";
import { derivedId } from "../../lib/ids.ts";
import { logAlert, safeMessage } from "../../lib/log.ts";
import { isoTime, SECOND_MS } from "../../lib/time.ts";
import { SYSTEM_TRAIL } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { batch } from "../../platform/db/batch.ts";
import { batchConflict } from "../../platform/db/conflict.ts";
import { faultKind, withinLimit } from "../../platform/db/retry.ts";
import type { RestoreEpoch } from "../../platform/deployment/restore-epoch.ts";
import type { DirectoryRpc, ObjectKind } from "../../platform/directory/directory-entries.ts";
import type { Left } from "../../platform/jobs/left.ts";
import type { FoundItem, Page, PageRequest } from "./read-page.ts";
import type { RecoverDependencies } from "./recover-place.ts";
import { type Outcome, type Phase, type Restore, UNDER_WAY_MS } from "./restore.ts";
import {
  advanceRestore,
  endAccess,
  endEarlierRestores,
  insertFinding,
  insertRestore,
  lowerCursors,
  selectRestore,
} from "./store.ts";

export interface RunDependencies extends Omit<RecoverDependencies, "restoredToMs"> {
  readonly epoch: RestoreEpoch;
  directory(kind: ObjectKind): Pick<DirectoryRpc, "list">;
  /** Reads one page of the items that an object has kept since the restored minute, in the object's order. */
  read(phase: WorkingPhase, name: string, page: PageRequest): Promise<Page>;
  apply(restore: Restore, item: FoundItem): Promise<Outcome>;
  /** The current time; `nowMs` is when the run began. */
  clock(): number;
}

type WorkingPhase = Exclude<Phase, "DONE">;

const STEPS: Readonly<Record<WorkingPhase, { readonly kind: ObjectKind; readonly next: Phase }>> = {
  REVOCATIONS: { kind: "MERCHANTS", next: "ADDRESSES" },
  ADDRESSES: { kind: "ADDRESSES", next: "AMOUNTS" },
  AMOUNTS: { kind: "AMOUNTS", next: "DONE" },
};

/** A run ends after this long or after `MOST_ITEMS`, well within an invocation's calls and a job's lease. */
const LONGEST_MS = 15 * SECOND_MS;
const MOST_ITEMS = 150;
const ITEMS_A_PAGE = 50;
const ITEMS_AT_ONCE = 10;
const NAMES_A_PAGE = 100;

/** Begins or continues the import for the epoch. Rejects if storage or an object fails; the next run continues. */
export async function runRestore(deps: RunDependencies): Promise<Left> {
  const restore = (await readRestore(deps)) ?? (await begin(deps));
  if (restore.restoredToMs !== deps.epoch.restoredToMs) {
    logAlert("RESTORE_EPOCH has the number of an earlier restore: nothing is recovered before it has a new one", {});
    return "nothing";
  }
  if (restore.phase === "DONE") return "nothing";
  const endMs = deps.clock() + LONGEST_MS;
  let at = restore;
  for (let items = 0; items < MOST_ITEMS && deps.clock() < endMs; ) {
    if (at.phase === "DONE") return "nothing";
    const step = await takeStep(deps, at, at.phase);
    at = step.restore;
    items += step.items;
  }
  return at.phase === "DONE" ? "nothing" : "more";
}

async function readRestore({ db, epoch }: RunDependencies): Promise<Restore | undefined> {
  const [restore] = await selectRestore(db, epoch.number);
  return restore;
}

/**
 * Inserts the import's row and lowers the cursors, so that networks are read again from the restored minute on. Does nothing if another run has begun
 * at the same time.
 */
async function begin(deps: RunDependencies): Promise<Restore> {
  const { db, epoch, nowMs } = deps;
  const operationId = deps.newOperationId();
  const { number, restoredToMs } = epoch;
  const row = { epoch: number, restoredToMs, operationId, phase: "REVOCATIONS", atName: "", beganAtMs: nowMs } as const;
  const [id, after] = [derivedId("aud", operationId), { restoredTo: isoTime(restoredToMs) }];
  const entry = { id, merchantId: null, action: "deployment.restored", target: String(number), after } as const;
  try {
    await batch(db, [
      insertRestore(db, row),
      insertAudit(db, SYSTEM_TRAIL, entry, nowMs),
      ...lowerCursors(db, restoredToMs),
    ]);
  } catch (error) {
    if (batchConflict(error) === undefined) throw error;
  }
  const begun = await readRestore(deps);
  if (begun === undefined) throw new Error("an import was begun, and is not there");
  return begun;
}

interface Step {
  readonly restore: Restore;
  readonly items: number;
}

/** Applies a page from one object and stores the position; if there is none, moves to the next object or phase. */
async function takeStep(deps: RunDependencies, at: Restore, phase: WorkingPhase): Promise<Step> {
  const { kind, next } = STEPS[phase];
  if (at.atPlace !== null) return readObject(deps, at, { name: at.atName, after: at.atPlace });
  const names = await withinLimit(deps.sleep, deps.directory(kind).list(at.atName, NAMES_A_PAGE));
  if (names.length === 0) return endPhase(deps, at, next);
  const first = { sinceMs: since(at), after: -1, limit: ITEMS_A_PAGE };
  const pages = await Promise.all(names.map((name) => withinLimit(deps.sleep, deps.read(phase, name, first))));
  // Objects that have no items since the restored minute are skipped in one step.
  const found = pages.findIndex(({ items }) => items.length > 0);
  const name = names[found];
  if (name === undefined) {
    const passed = { name: names.at(-1) ?? "", place: null, objects: names.length };
    return { restore: await advance(deps, at, passed), items: 1 };
  }
  return readObject(deps, await advance(deps, at, { name, place: -1, objects: found + 1 }), { name, after: -1 });
}

async function readObject(
  deps: RunDependencies,
  at: Restore,
  { name, after }: { readonly name: string; readonly after: number },
): Promise<Step> {
  if (at.phase === "DONE") throw new Error("an import that is over goes on");
  const page = await withinLimit(
    deps.sleep,
    deps.read(at.phase, name, { sinceMs: since(at), after, limit: ITEMS_A_PAGE }),
  );
  const counts = { revocations: 0, recovered: 0, findings: 0 };
  // Revocations must be repeated in order; addresses and amounts are independent of each other.
  for (const items of chunksOf(page.items, at.phase === "REVOCATIONS" ? 1 : ITEMS_AT_ONCE)) {
    const outcomes = await Promise.all(items.map(async (item) => ({ item, outcome: await applied(deps, at, item) })));
    for (const { item, outcome } of outcomes) {
      if (outcome.kind === "DONE") counts[at.phase === "REVOCATIONS" ? "revocations" : "recovered"] += 1;
      if (outcome.kind === "FOUND") counts.findings += await noteFinding(deps, at, item, outcome.reason);
    }
  }
  const last = page.items.at(-1)?.place ?? after;
  const place = page.items.length < ITEMS_A_PAGE ? null : last;
  return { restore: await advance(deps, at, { name, place, ...counts }), items: page.items.length };
}

/** A damaged item or a bug must not keep the whole deployment closed, so it becomes a finding. */
async function applied(deps: RunDependencies, at: Restore, item: FoundItem): Promise<Outcome> {
  try {
    return await deps.apply(at, item);
  } catch (error) {
    if (!["other", "reset"].includes(faultKind(error))) throw error;
    logAlert("an import could not put something back", { kind: item.kind, what: safeMessage(error) });
    return { kind: "FOUND", reason: "REFUSED" };
  }
}

/** Returns the number of new findings: one, or 0 if the step is repeated. */
async function noteFinding(
  { db, nowMs }: RunDependencies,
  at: Restore,
  item: FoundItem,
  reason: Extract<Outcome, { kind: "FOUND" }>["reason"],
): Promise<number> {
  const id = derivedId("rfd", `${at.operationId}|found ${item.kind} ${item.name} ${item.place}`);
  const rows = await insertFinding(db, { id, epoch: at.epoch, reason, createdAtMs: nowMs, ...item.facts });
  return rows.length;
}

interface Advance extends Partial<Pick<Restore, "objects" | "revocations" | "recovered" | "findings">> {
  readonly name: string;
  readonly place: number | null;
}

async function advance(deps: RunDependencies, at: Restore, { name, place, ...counts }: Advance): Promise<Restore> {
  const added = { objects: 0, revocations: 0, recovered: 0, findings: 0, ...counts };
  const position = { phase: at.phase, atName: name, atPlace: place };
  await advanceRestore(deps.db, at.epoch, { ...position, added });
  return { ...at, ...position };
}

/**
 * Ends a phase. After the revocations, all users must sign in again, because some may have signed in while revoked factors still existed, and all
 * links must be requested again.
 */
async function endPhase(deps: RunDependencies, at: Restore, next: Phase): Promise<Step> {
  const { db } = deps;
  const nowMs = deps.clock();
  const added = { objects: 0, revocations: 0, recovered: 0, findings: 0 };
  const times = {
    ...(at.phase === "REVOCATIONS" ? { openedAtMs: nowMs } : {}),
    ...(next === "DONE" ? { endedAtMs: nowMs } : {}),
  };
  const moved = { phase: next, atName: "", atPlace: null } as const;
  await batch(db, [
    ...(at.phase === "REVOCATIONS" ? endAccess(db, nowMs) : []),
    ...(next === "DONE" ? [endEarlierRestores(db, at.epoch, nowMs)] : []),
    advanceRestore(db, at.epoch, { ...moved, ...times, added }),
  ]);
  return { restore: { ...at, ...moved }, items: 0 };
}

function since({ fromMs }: Restore): number {
  return fromMs - UNDER_WAY_MS;
}
