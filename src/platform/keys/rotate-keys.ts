// The job that lets a key be retired: it walks through all rows that carry the id of a key, and renews those of older keys under the newest one.
// While each keyring has one key, it only records the keys. A walk that finds rows of an older key is followed by another at once; one that finds no
// such row is repeated every hour, because an isolate from before the rotation may still write.
import type { Keyring } from "../../lib/keyring.ts";
import { HOUR_MS } from "../../lib/time.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { batch } from "../db/batch.ts";
import type { Left } from "../jobs/left.ts";
import { type KeyedRows, meetingName } from "./keyed-rows.ts";
import { KEYRING_NAMES, type KeyringName } from "./keyrings.ts";
import { type RecordDependencies, recordKeys } from "./record-keys.ts";
import { planStretch, type RowDependencies } from "./rotate-rows.ts";
import { forgetUnusedPeppers, type KeyWalk, noteUnused, resetUnused, saveWalk, selectWalk } from "./store.ts";

export interface RotateDependencies extends RecordDependencies, RowDependencies {
  readonly kinds: readonly KeyedRows[];
}

const WALK = "ROWS";
/** The number of rows in a stretch, which one batch renews, and the most stretches in a run. */
const STRETCH = 500;
const STRETCHES = 20;

type Met = Readonly<Record<string, number>>;

/** Reads at most 20 stretches of 500 rows, and renews those under older keys. */
export async function rotateKeys(deps: RotateDependencies): Promise<Left> {
  const foreign = await recordKeys(deps);
  const older = olderKeys(deps, foreign);
  if (older.length === 0) return "nothing";
  let walk = await currentWalk(deps);
  for (let stretch = 0; stretch < STRETCHES; stretch++) {
    if (walk.endedAtMs !== null) return "nothing";
    walk = await walkOn(deps, walk, older);
  }
  return walk.endedAtMs === null ? "more" : "nothing";
}

interface OlderKey {
  readonly keyring: KeyringName;
  readonly keyId: string;
}

/**
 * All but the newest key of each keyring, without keys that differ from the recorded ones. Empty for a keyring whose newest key differs: nothing may
 * be written under it.
 */
function olderKeys({ rings }: RotateDependencies, foreign: ReadonlySet<string>): readonly OlderKey[] {
  return KEYRING_NAMES.flatMap((keyring) => {
    const [newest, ...rest] = rings[keyring] ?? [];
    if (newest === undefined || foreign.has(meetingName(keyring, newest.id))) return [];
    return rest
      .map(({ id: keyId }) => ({ keyring, keyId }))
      .filter((key) => !foreign.has(meetingName(keyring, key.keyId)));
  });
}

/** The current walk; a new one if the keys have changed, or if one is due. */
async function currentWalk(deps: RotateDependencies): Promise<KeyWalk> {
  const { db, nowMs, rings } = deps;
  const ids = (ring: Keyring | undefined) => (ring ?? []).map(({ id }) => id).join(",");
  const keys = KEYRING_NAMES.map((name) => ids(rings[name])).join(" ");
  const [walk] = await selectWalk(db, WALK);
  const isDue = walk?.endedAtMs !== undefined && walk.endedAtMs !== null && walk.endedAtMs <= nowMs - HOUR_MS;
  if (walk !== undefined && walk.keys === keys) return isDue ? beginning(deps, keys) : walk;
  const begun = beginning(deps, keys);
  await batch(db, [resetUnused(db), saveWalk(db, begun)]);
  return begun;
}

function beginning({ kinds, nowMs }: RotateDependencies, keys: string): KeyWalk {
  const kind = kinds[0]?.kind ?? "";
  return { name: WALK, keys, kind, after: 0, met: "{}", beganAtMs: nowMs, endedAtMs: null };
}

/** Renews the rows in the next stretch, and advances the walk, in one batch. */
async function walkOn(deps: RotateDependencies, walk: KeyWalk, older: readonly OlderKey[]): Promise<KeyWalk> {
  const at = deps.kinds.findIndex(({ kind }) => kind === walk.kind);
  const rows = deps.kinds[at];
  if (rows === undefined) return endWalk(deps, walk, older);
  const keyIds = older.filter(({ keyring }) => keyring === rows.keyring).map(({ keyId }) => keyId);
  const ring = deps.rings[rows.keyring];
  const skipped = { next: undefined, met: [], statements: [] };
  const planned =
    ring === undefined || keyIds.length === 0
      ? skipped
      : await planStretch(deps, { rows, ring, stretch: { after: walk.after, length: STRETCH, keyIds } });
  const met = addMet(parseJson<Met>(walk.met), rows.keyring, planned.met);
  const next =
    planned.next === undefined
      ? { kind: deps.kinds[at + 1]?.kind ?? "", after: 0 }
      : { kind: walk.kind, after: planned.next };
  const moved = { ...walk, ...next, met: JSON.stringify(met) };
  await batch(deps.db, [...planned.statements, saveWalk(deps.db, moved)]);
  return moved;
}

function addMet(met: Met, keyring: KeyringName, keyIds: readonly string[]): Met {
  const sum = { ...met };
  for (const keyId of keyIds) sum[meetingName(keyring, keyId)] = (sum[meetingName(keyring, keyId)] ?? 0) + 1;
  return sum;
}

/** Records which keys are no longer in use. Starts over if older rows were found, to check that all of them are renewed. */
async function endWalk(deps: RotateDependencies, walk: KeyWalk, older: readonly OlderKey[]): Promise<KeyWalk> {
  const { db, nowMs } = deps;
  const met = parseJson<Met>(walk.met);
  const isIdle = Object.keys(met).length === 0;
  const ended = isIdle ? { ...walk, endedAtMs: nowMs } : beginning(deps, walk.keys);
  const notes = older.filter(isRecordSafe(deps)).map(({ keyring, keyId }) => {
    const isMet = (met[meetingName(keyring, keyId)] ?? 0) > 0;
    return noteUnused(db, { keyring, keyId, sinceMs: isMet ? null : nowMs });
  });
  await batch(db, [...notes, forgetUnusedPeppers(db), saveWalk(db, ended)]);
  return ended;
}

/** Whether the part of a key that is kept after its removal can be recorded: a key of another keyring must encrypt a pepper, or sign a public key. */
function isRecordSafe({ rings }: RotateDependencies): (key: OlderKey) => boolean {
  return ({ keyring }) => {
    if (keyring === "CODE_PEPPER") return rings.SECRETS_AES_KEY !== undefined;
    return keyring !== "SIGNING_KEY" || rings.ROW_MAC_KEY !== undefined;
  };
}
