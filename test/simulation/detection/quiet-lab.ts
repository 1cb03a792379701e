// A database for the tests of a file, and a simulation without faults in which they run. Each test's writes are rolled back.
import { Lab } from "../engine/lab.ts";
import { World } from "../engine/world.ts";

/** One source for each way of reading. */
export const KINDS = [
  { network: "BTC", cryptocurrency: "BTC", kind: "core-rpc", costsBy: "blocks" },
  { network: "BTC", cryptocurrency: "BTC", kind: "esplora", costsBy: "recipients" },
  { network: "ETH", cryptocurrency: "USDT", kind: "evm-rpc", costsBy: "blocks" },
  { network: "TRX", cryptocurrency: "USDT", kind: "trongrid", costsBy: "recipients" },
] as const;

export const START = 1_800_000_000_000;
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const POLL_MS = 30_000;
/** Bitcoin's block time. */
export const BLOCK_MS = 10 * MINUTE;

export function quietLab() {
  const lab = new Lab();
  const db = lab.db(async (_, work) => work());
  const inLab = <T>(work: () => Promise<T>, seed = 1): Promise<T> =>
    lab.schedule(new World({ seed, faultChance: 0, isTraced: false, onEviction: () => {} }), work);
  return { lab, db, inLab };
}
