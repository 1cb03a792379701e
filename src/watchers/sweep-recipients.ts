// Reads a chain by address, from a source that keeps an index of them: some at each tick, the newest always, so that no tick asks for more than
// such a source answers. The cursor moves when a round over all of them is complete, to where the chain stood when the round began: an
// address that has waited for long is asked less often, and its invoice waits with it.
import type { ChainClient } from "../chains/chain-client.ts";
import { ok } from "../lib/result.ts";
import { transferKey } from "../payments/transfer.ts";
import { applied, asked, type Pass, type Step, type Sweep, type WatchEffects } from "./commit-cursor.ts";
import { blockAt, type PlacedCursor } from "./find-position.ts";
import { lookAtUnproved, readUnproved } from "./look-again.ts";
import { advance, type Scanned } from "./scan-blocks.ts";

/** At one request for each, about what a public source answers within a tick. */
const ADDRESSES_A_TICK = 60;

export async function sweepRecipients(
  fx: WatchEffects,
  pass: Pass,
  client: ChainClient,
  cursor: PlacedCursor,
): Promise<Step<Scanned>> {
  const { network, book, memory, tip } = pass;
  const sweep = sweepOf(pass, client);
  const { due, isOver } = nextDue(sweep);
  memory.sweep = { ...sweep, due };
  const recipients = new Set([...book.newest, ...due]);
  const from = Math.max(0, cursor.height + 1 - network.overlapBlocks);
  const scan = asked(await client.scan({ from, to: tip, recipients, assets: network.assets }));
  if (!scan.ok) return scan;
  const mempool = asked(await client.mempool(recipients));
  if (!mempool.ok) return mempool;
  const stands = await applied(fx, pass, { transfers: [...scan.value.transfers, ...mempool.value], seen: [] });
  if (!stands.ok) return stands;
  const mined = scan.value.transfers.filter(({ block }) => block !== null && block.height > cursor.height);
  const to = scan.value.to.height < sweep.to.height ? scan.value.to : sweep.to;
  const next = { ...sweep, to, due: new Set<string>(), found: new Set([...sweep.found, ...mined.map(transferKey)]) };
  memory.sweep = isOver ? undefined : next;
  const moved = isOver ? await endSweep(fx, pass, cursor, next) : ok(cursor);
  return moved.ok ? ok({ cursor: moved.value, unconfirmed: new Set(mempool.value.map(transferKey)) }) : moved;
}

/** The round under way; a new one where another source is asked, for what that knows is not what the first knew. */
function sweepOf(pass: Pass, client: ChainClient): Sweep {
  const { memory, book, tip, begunMs } = pass;
  if (memory.sweep?.client === client) return memory.sweep;
  return { client, to: tip, begunMs, rest: book.addresses.values(), due: new Set(), found: new Set() };
}

function nextDue(sweep: Sweep): { readonly due: ReadonlySet<string>; readonly isOver: boolean } {
  const due = new Set(sweep.due);
  while (due.size < ADDRESSES_A_TICK) {
    const next = sweep.rest.next();
    if (next.done === true) return { due, isOver: true };
    due.add(next.value);
  }
  return { due, isOver: false };
}

/** Moves the cursor to where the chain stood when the round began, unless that block has left the chain meanwhile. */
async function endSweep(
  fx: WatchEffects,
  pass: Pass,
  cursor: PlacedCursor,
  { client, to, begunMs, found }: Sweep,
): Promise<Step<PlacedCursor>> {
  if (to.height > pass.tip.height || to.height < cursor.height) return ok(cursor);
  const block = await blockAt(pass, client, to.height);
  if (!block.ok) return block;
  if (block.value.hash !== to.hash) return ok(cursor);
  const unproved = await readUnproved(fx, { ...pass, tip: to }, cursor.height);
  if (!unproved.ok) return unproved;
  const lost = unproved.value.filter((payment) => !found.has(transferKey(payment)));
  const seen = await lookAtUnproved(fx, pass, client, lost);
  if (!seen.ok) return seen;
  const stands = await applied(fx, pass, { transfers: [], seen: seen.value });
  if (!stands.ok) return stands;
  const passedMs = pass.network.family === "bitcoin" ? begunMs : to.timeMs;
  return advance(fx, pass, client, cursor, { ...to, passedMs });
}
