// One step of reading a range again, alongside a pass's scan: bounded, safe to repeat, and safe to abort anywhere, because its position is stored in
// D1 only after its findings. A known transfer changes nothing. A step does not confirm what it finds: the next passes do, which prove each block by
// the cursor's hash link. Only the scan pauses sources: if no source answers for a range, none of them is paused.

import type { Network } from "../../chains/registry/networks.ts";
import type { ChainClient } from "../../chains/sources/chain-client.ts";
import type { NetworkCursor } from "../../commerce/cursors/cursor.ts";
import { beginWatch } from "../../commerce/cursors/store.ts";
import type { Outage } from "../../lib/fetch-text.ts";
import { ok, type Result } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { batch } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { StatementBudget } from "../../platform/db/statement-budget.ts";
import { behind } from "../passes/find-position.ts";
import { RecipientBook } from "../passes/recipients.ts";
import { asked, type Step, stored, type WatchDependencies, type WatchMemory } from "../passes/watch-pass.ts";
import { readAddresses } from "./read-addresses.ts";
import { readBlocks } from "./read-blocks.ts";
import type { Chunk, Range, Reread } from "./reread.ts";
import { moveReread, selectRecipientsIn } from "./store.ts";

/** Starts no more chunks after this time. */
const LONGEST_MS = 10 * SECOND_MS;
/** Rows in one page of recipients. */
const PAGE = 5_000;

/** Returns whether there is more to read, so that the next pass should come soon. */
export async function rereadStep(
  deps: WatchDependencies,
  of: {
    readonly network: Network;
    readonly memory: WatchMemory;
    readonly cursor: NetworkCursor | undefined;
    readonly budget: StatementBudget;
  },
  reread: Reread,
): Promise<boolean> {
  const begunMs = deps.nowMs();
  let row = reread;
  for (;;) {
    const end = await askSources(deps, (client) => chunkOf(deps, of, { client, row }));
    if (end === undefined) return false;
    if (!end.ok) {
      if (end.error.kind === "outage") await move(deps, of, row, failed(row, end.error.outage.kind));
      return false;
    }
    const moved = await move(deps, of, row, after(row, end.value, deps.nowMs()), end.value);
    if (moved === undefined || moved.endedAtMs !== null || moved.failures > 0) return false;
    row = moved;
    if (deps.nowMs() - begunMs > LONGEST_MS || end.value.transfers.length > 0 || of.budget.isSpent) return true;
  }
}

/** The answer from the first source that can give one; otherwise the refusal of the last source. Undefined if no source may be asked now. */
async function askSources(
  deps: WatchDependencies,
  work: (client: ChainClient) => Promise<Step<Chunk>>,
): Promise<Step<Chunk> | undefined> {
  const ask = async (client: ChainClient): Promise<Result<Step<Chunk>, Outage>> => ok(await work(client));
  let found = await deps.pool.attempt(deps.nowMs(), ask);
  if (!found.ok) return undefined;
  const { client: first } = found.value;
  const tried: ChainClient[] = [];
  let last = found.value.value;
  while (!last.ok && last.error.kind === "outage") {
    found = await deps.pool.attemptWithout(first, deps.nowMs(), ask, tried);
    if (!found.ok) break;
    tried.push(found.value.client);
    last = found.value.value;
  }
  return last.ok && tried.length > 0 ? ok({ ...last.value, isHearsay: true }) : last;
}

async function chunkOf(
  deps: WatchDependencies,
  of: { readonly network: Network; readonly memory: WatchMemory; readonly cursor: NetworkCursor | undefined },
  { client, row }: { readonly client: ChainClient; readonly row: Reread },
): Promise<Step<Chunk>> {
  const range = await rangeOf(of.network, client, of.cursor, row);
  if (!range.ok) return range;
  if (client.history !== undefined) return readAddresses(deps, range.value, client, row);
  const book = await bookOf(deps, of.memory, range.value, row);
  return book.ok ? readBlocks(range.value, client, book.value, row) : book;
}

/** The part of the range that this source has. The source must be on the cursor's chain, if there is a cursor. */
async function rangeOf(
  network: Network,
  client: ChainClient,
  cursor: NetworkCursor | undefined,
  { fromHeight, toHeight }: Reread,
): Promise<Step<Range>> {
  const height = cursor?.height ?? null;
  // A new watch has no height yet; the next passes undo what a step finds on the wrong branch.
  const probe = height === null ? ok(null) : asked(await client.block(height));
  if (!probe.ok) return probe;
  if (height !== null && probe.value?.hash !== cursor?.hash) return behind("the source is not on the cursor's chain");
  // A fork may have set the cursor back below the end of the range: the scan itself reads from the cursor on.
  const last = Math.min(toHeight, height ?? toHeight);
  const [from, to] = [asked(await client.block(Math.min(fromHeight, last))), asked(await client.block(last))];
  if (!from.ok) return from;
  if (!to.ok) return to;
  if (from.value === null || to.value === null) return behind("the source lacks a block of the range");
  return ok({ network, from: from.value, to: to.value, isWhole: last === toHeight });
}

/** All recipients that could be paid in the range; kept while the object lives. */
async function bookOf(
  deps: WatchDependencies,
  memory: WatchMemory,
  { network, from, to }: Range,
  { requestedAtMs }: Reread,
): Promise<Step<RecipientBook>> {
  if (memory.reread?.requestedAtMs === requestedAtMs) return ok(memory.reread.book);
  const book = new RecipientBook(deps.nowMs());
  let after = { activatedAtMs: 0, position: 0 };
  for (;;) {
    const page = { network: network.name, fromMs: from.timeMs, toMs: to.timeMs, after, limit: PAGE };
    const rows = stored(await readWithRetry(deps.sleep, async () => selectRecipientsIn(deps.db, page)));
    if (!rows.ok) return rows;
    book.add(rows.value);
    const last = rows.value.at(-1);
    if (last === undefined || rows.value.length < PAGE) break;
    after = last;
  }
  memory.reread = { requestedAtMs, book };
  return ok(book);
}

function after(row: Reread, { next, transfers, isLast }: Chunk, nowMs: number): Reread {
  return {
    ...row,
    ...next,
    failures: 0,
    lastOutage: null,
    transfers: row.transfers + transfers.length,
    endedAtMs: isLast ? nowMs : null,
  };
}

function failed(row: Reread, kind: Outage["kind"]): Reread {
  return { ...row, failures: row.failures + 1, lastOutage: kind };
}

/**
 * Stores the findings and then the position; undefined if storage failed, or the range is no longer to be read. If not everything could be stored,
 * the position is kept: the next step finds the same transfers and continues after those that are stored.
 */
async function move(
  deps: WatchDependencies,
  { network, budget }: { readonly network: Network; readonly budget: StatementBudget },
  read: Reread,
  to: Reread,
  { transfers, isHearsay = false }: Pick<Chunk, "transfers" | "isHearsay"> = { transfers: [] },
): Promise<Reread | undefined> {
  if (transfers.length > 0) {
    const heights = { tipHeight: read.fromHeight - 1, finalizedHeight: null };
    const applied = await deps.apply({
      network,
      heights,
      hasSecond: deps.pool.hasSecond(),
      transfers,
      seen: [],
      isHearsay,
      budget,
    });
    if (!applied.ok) return undefined;
    // A new payment must be confirmed, so the watch starts again even if the network rests.
    const begun = await readWithRetry(deps.sleep, async () => beginWatch(deps.db, network.name, deps.nowMs()));
    if (!begun.ok) return undefined;
    if (applied.value.leftFrom !== undefined) return read;
  }
  const moved = await readWithRetry(deps.sleep, async () => batch(deps.db, [moveReread(deps.db, read, to)]));
  return moved.ok && moved.value[0].length === 1 ? to : undefined;
}
