// Reports whether a key may be removed: how many rows still depend on it, and when it is no longer needed.
import { DAY_MS } from "../../lib/time.ts";
import { batch } from "../db/batch.ts";
import type { Db } from "../db/client.ts";
import type { Keyrings } from "./deployment-key.ts";
import type { KeyedKind, KeyedRows } from "./keyed-rows.ts";
import { KEYRING_NAMES, type KeyringName } from "./keyrings.ts";
import { countRows, type DeploymentKey, selectKeys } from "./store.ts";

/** How long rows that are not counted may still need a key, such as the responses that are stored for replays. */
const WAITED_MS = DAY_MS;

export interface KeyUse {
  /** The secret that contains the key: MASTER_KEY, or a keyring that is set explicitly. */
  readonly setting: "MASTER_KEY" | KeyringName;
  readonly keyId: string;
  /** Whether new rows are written under the key; then it cannot be retired. */
  readonly isNewest: boolean;
  /** The number of rows that depend on the key, by their kind. */
  readonly left: Readonly<Partial<Record<KeyedKind, number>>>;
  /** When the key may be removed from the setting; null while rows depend on the key, and until a complete walk has found no such row. */
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

/** One entry for each key of each secret, newest first. Counts all rows, so it is too slow to run on every request. */
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

/** When the last of these keyrings stopped needing the key; null if one of them still needs it, or if this is unknown. */
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
