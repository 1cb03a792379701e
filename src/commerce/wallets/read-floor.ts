import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { withinLimit } from "../../platform/db/retry.ts";
import { selectFloor } from "../wallet-records/store.ts";

export interface FloorDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
}

/**
 * The lowest index of a key that is above all used indexes and not below the `nextIndex` of any wallet. Rejects with the database's error, so that
 * the caller can retry.
 */
export async function readFloor({ db, sleep }: FloorDependencies, keyHash: string): Promise<number> {
  const [row] = await withinLimit(sleep, Promise.resolve(selectFloor(db, keyHash)));
  return row?.floor ?? 0;
}
