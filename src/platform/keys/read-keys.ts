// Answers whether a key may be dropped: how many rows are left under it, and from when on it is not needed.
import { DAY_MS } from "../../lib/time.ts";
import { batch } from "../db/batch.ts";
import type { Db } from "../db/client.ts";
import type { Keyrings } from "./deployment-key.ts";
import type { KeyedKind, KeyedRows } from "./keyed-rows.ts";
import { KEYRING_NAMES, type KeyringName } from "./keyrings.ts";
import { countRows, type DeploymentKey, selectKeys } from "./store.ts";

/** Answers stored under a key for replays live for a day, and so does everything else that is not counted. */
const WAITED_MS = DAY_MS;

export interface KeyUse {
  /** The secret that has the key: MASTER_KEY, or a keyring that is set explicitly. */
  readonly setting: "MASTER_KEY" | KeyringName;
  readonly keyId: string;
  /** Whether rows are written under it. It cannot be retired. */
  readonly isNewest: boolean;
  /** Rows that depend on it, by their kind. */
  readonly left: Readonly<Partial<Record<KeyedKind, number>>>;
  /** When it may be dropped from the setting; null while rows are left, and until a walk has found none. */
  readonly retirableAtMs: number | null;
}

export interface UseDependencies {
  readonly db: Db;
  readonly nowMs: number;
  readonly rings: Keyrings;
  /** The keyrings that are set explicitly; the others are derived from MASTER_KEY. */
  readonly explicit: ReadonlySet<KeyringName>;
  readonly kinds: readonly KeyedRows[];
}

/** One entry for each key of each secret, newest first. Counts all rows, so it is not for every request. */
export async function readKeys(deps: UseDependencies): Promise<readonly KeyUse[]> {
  const { db, nowMs, kinds } = deps;
  const [recorded, ...counts] = await batch(db, [selectKeys(db), ...kinds.map((rows) => countRows(db, rows, nowMs))]);
  const counted = kinds.map(({ kind, keyring }, at) => ({ kind, keyring, totals: counts[at] ?? [] }));
  return settingsOf(deps).flatMap(({ setting, keyrings }) => {
    const ids = new Set(keyrings.flatMap((keyring) => (deps.rings[keyring] ?? []).map(({ id }) => id)));
    return [...ids].map((keyId, at) => {
      const left = Object.fromEntries(
        counted
          .filter(({ keyring }) => keyrings.includes(keyring))
          .map(({ kind, totals }) => [kind, totals.find((each) => each.keyId === keyId)?.total ?? 0]),
      );
      const isNewest = at === 0;
      const isLeft = Object.values(left).some((total) => total > 0);
      const unusedMs = unusedSince(keyrings, keyId, recorded);
      const retirableAtMs = isNewest || isLeft || unusedMs === null ? null : unusedMs + WAITED_MS;
      return { setting, keyId, isNewest, left, retirableAtMs };
    });
  });
}

function settingsOf({
  explicit,
  rings,
}: UseDependencies): readonly { setting: KeyUse["setting"]; keyrings: KeyringName[] }[] {
  const valid = KEYRING_NAMES.filter((name) => rings[name] !== undefined);
  const own = valid.filter((name) => explicit.has(name)).map((name) => ({ setting: name, keyrings: [name] }));
  return [{ setting: "MASTER_KEY", keyrings: valid.filter((name) => !explicit.has(name)) }, ...own];
}

/** Since when no row of any of the keyrings depends on the key; null if one does, or if unknown. */
function unusedSince(
  keyrings: readonly KeyringName[],
  keyId: string,
  recorded: readonly DeploymentKey[],
): number | null {
  const times = keyrings.map(
    (keyring) => recorded.find((row) => row.keyring === keyring && row.keyId === keyId)?.unusedSinceMs,
  );
  const known = times.flatMap((ms) => ms ?? []);
  return known.length === keyrings.length && known.length > 0 ? Math.max(...known) : null;
}
