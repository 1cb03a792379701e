// Some addresses' transfers in a range, from a source that is read by address.
import type { ChainClient } from "../../chains/sources/chain-client.ts";
import type { Transfer } from "../../chains/sources/transfer.ts";
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { askHistory } from "../passes/by-address/ask-history.ts";
import { behind } from "../passes/find-position.ts";
import { asked, type Step, stored, type WatchDependencies } from "../passes/watch-pass.ts";
import type { Chunk, Range, Reread } from "./reread.ts";
import { selectRecipientsIn } from "./store.ts";

/** Addresses in one chunk; each takes at least one request. */
const ADDRESSES = 40;
/** Starts reading no more addresses after this time. */
const LONGEST_MS = 10 * SECOND_MS;
/** How many pages one request returns, and how many requests are made for one address. An address with more transfers in the range is left out. */
const PAGES = 4;
const MOST_REQUESTS = 25;
/** After this many refusals in a row, an address that is refused once more is left out, so that it does not delay the others. */
const MOST_FAILURES = 3;

export async function readAddresses(
  deps: WatchDependencies,
  range: Range,
  client: ChainClient,
  row: Reread,
): Promise<Step<Chunk>> {
  const begunMs = deps.nowMs();
  const { network, from, to } = range;
  const after = { activatedAtMs: row.afterMs, position: row.afterPosition };
  const page = { network: network.name, fromMs: from.timeMs, toMs: to.timeMs, after, limit: ADDRESSES };
  const rows = stored(await readWithRetry(deps.sleep, async () => selectRecipientsIn(deps.db, page)));
  if (!rows.ok) return rows;
  const found = new Map<string, readonly Transfer[]>();
  let place: Chunk["next"] = row;
  let failure: Outage | undefined;
  let done = 0;
  for (const { address, activatedAtMs, position } of rows.value) {
    if (deps.nowMs() - begunMs > LONGEST_MS) break;
    const known = found.get(address);
    const history = known === undefined ? await historyOf(range, client, address) : ok(known);
    const isLeftOut = !history.ok && done === 0 && row.failures >= MOST_FAILURES;
    if (!history.ok && !isLeftOut) {
      failure = history.error;
      break;
    }
    if (history.ok) found.set(address, history.value);
    const skipped = place.skipped + (isLeftOut ? 1 : 0);
    place = { nextHeight: row.nextHeight, afterMs: activatedAtMs, afterPosition: position, skipped };
    done++;
  }
  if (failure !== undefined && done === 0) return err({ kind: "outage", outage: failure });
  // If the last block is still on the chain after the last answer, all answers are about one chain.
  const blockNow = asked(await client.block(to.height));
  if (!blockNow.ok) return blockNow;
  if (blockNow.value?.hash !== to.hash) return behind("the answers are about two branches");
  const isOver = done === rows.value.length && rows.value.length < ADDRESSES;
  // The range counts as read to its end, even if that is above `to`: the scan itself will read those blocks.
  const next = { ...nextOf(place), nextHeight: isOver ? row.toHeight + 1 : row.nextHeight };
  return ok({ transfers: [...found.values()].flat(), next, isLast: isOver });
}

const nextOf = ({ nextHeight, afterMs, afterPosition, skipped }: Chunk["next"]): Chunk["next"] => ({
  nextHeight,
  afterMs,
  afterPosition,
  skipped,
});

/** The mined transfers to an address in the range. */
async function historyOf(
  { network, from, to }: Range,
  client: ChainClient,
  address: string,
): Promise<Result<readonly Transfer[], Outage>> {
  const transfers: Transfer[] = [];
  let after: string | null = null;
  for (let n = 0; n < MOST_REQUESTS; n++) {
    const request = { address, from: from.height, to, assets: network.assets, after, pages: PAGES };
    const history = await askHistory(client, request);
    if (!history.ok) return history;
    transfers.push(...history.value.transfers.filter(({ block }) => block !== null && block.height <= to.height));
    after = history.value.next;
    if (after === null) return ok(transfers);
  }
  return err(outage("TOO_LARGE", "the address has too many transfers in the range"));
}
