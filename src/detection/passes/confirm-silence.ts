// Runs before an invoice may expire. An index that found nothing does not prove that there is no payment, so a second source, if configured, is asked
// about the addresses of invoices that would expire. Completely read blocks need no second source: they cannot leave out their own transactions. But
// they do not cover a mempool or newer blocks.
import type { ChainClient } from "../../chains/sources/chain-client.ts";
import type { BlockRef } from "../../chains/sources/transfer.ts";
import type { NetworkCursor } from "../../commerce/cursors/cursor.ts";
import { ok } from "../../lib/result.ts";
import { MINUTE_MS } from "../../lib/time.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { askSecond, type Heard } from "./ask-second.ts";
import { onOwnChain } from "./find-shared.ts";
import type { SecondWalk, Silent, WatchProgress } from "./progress.ts";
import { selectExpiring } from "./store.ts";
import { applied, type Pass, type Step, stored, type WatchDependencies } from "./watch-pass.ts";

/** The most methods that one pass asks about; a second source that reads whole blocks handles any number at once. */
const METHODS_A_PASS = 1_000;
/** How long a second source that cannot be asked, or refuses an address, may keep invoices open. */
const HELD_FOR_MS = 5 * MINUTE_MS;
/** How long a second source that is read block by block and does not reach the tip may keep invoices open. */
const READ_FOR_MS = 30 * MINUTE_MS;

/** The time up to which everything has been read: `to.passedMs`, or the end of the first invoice that must wait for the second source. */
export async function confirmSilence(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  cursor: NetworkCursor,
  to: BlockRef & { readonly passedMs: number },
): Promise<Step<number>> {
  const { network, progress } = pass;
  // A block's time may be in the future; it is lowered to now.
  const passedMs = Math.max(cursor.passedMs, Math.min(to.passedMs, deps.nowMs()));
  if (passedMs === cursor.passedMs || !deps.pool.hasSecond()) return ok(passedMs);
  // Any number of invoices may end at the same time: skips those already asked about.
  const after = progress.silent?.atMs === cursor.passedMs ? progress.silent.invoiceId : "";
  const window = { network: network.name, fromMs: cursor.passedMs, after, beforeMs: passedMs, limit: METHODS_A_PASS };
  const rows = stored(await readWithRetry(deps.sleep, async () => selectExpiring(deps.db, window)));
  if (!rows.ok) return rows;
  const { page, last, walk } = pageOf(rows.value, progress.walk?.fromMs === cursor.passedMs ? progress.walk : null);
  progress.walk = walk;
  const reached = (next = last) => {
    const reachedMs = next?.expiresAtMs ?? passedMs;
    progress.silent = next === undefined ? null : { atMs: next.expiresAtMs, invoiceId: next.invoiceId };
    if (progress.refused !== null && reachedMs >= progress.refused.upToMs) progress.refused = null;
    return ok(reachedMs);
  };
  const due = page.filter(({ cryptocurrency }) => isIndexed(pass, client, cryptocurrency));
  const [first] = due;
  if (first === undefined) {
    await noteSecond(deps, progress, client);
    return reached();
  }
  const recipients = new Set(due.map(({ address }) => address));
  const areBlocksProved = network.family === "bitcoin" && client.costsBy === "blocks";
  const sinceMs = areBlocksProved ? null : Math.min(...due.map(({ activatedAtMs }) => activatedAtMs));
  const heard: Heard = { transfers: new Map(), refused: new Set(), parts: [], page: null, walk: null };
  const found = await deps.pool.attemptWithout(client, deps.nowMs(), (second) =>
    askSecond(deps, second, pass, { recipients, sinceMs, to, heard }),
  );
  const { transfers: answers, refused } = heard;
  // Also uses the answers that came before the failure.
  if (!found.ok && answers.size === 0 && refused.size === 0) {
    progress.unsecondedMs = Math.min(progress.unsecondedMs ?? deps.nowMs(), deps.nowMs());
    return deps.nowMs() - progress.unsecondedMs < HELD_FOR_MS ? ok(first.expiresAtMs) : reached();
  }
  progress.unsecondedMs = null;
  const judged = await judge(deps, pass, client, heard);
  if (!judged.ok) return judged;
  progress.walk = walkAfter(progress.walk, heard.walk, { first, page, open: judged.value });
  if (progress.walk !== null && deps.nowMs() - progress.walk.sinceMs < READ_FOR_MS) return ok(first.expiresAtMs);
  if (progress.walk !== null) {
    progress.walk = null;
    return reached();
  }
  notePage(progress, heard, judged.value);
  const unasked = due.find(({ address }) => !answers.has(address) && !refused.has(address));
  const open = due.slice(0, unasked && due.indexOf(unasked)).find(({ address }) => refused.has(address));
  if (open !== undefined && isHeld(deps, progress, open.expiresAtMs, passedMs)) return ok(open.expiresAtMs);
  return reached(unasked ?? last);
}

/** Called when no invoice needs the second source: if it answers again, its earlier outage must not count when the next invoice ends. */
async function noteSecond(deps: WatchDependencies, progress: WatchProgress, client: ChainClient): Promise<void> {
  if (progress.unsecondedMs === null) return;
  const tip = await deps.pool.attemptWithout(client, deps.nowMs(), (second) => second.tip());
  if (tip.ok) progress.unsecondedMs = null;
}

/**
 * Whether the first invoice whose address the second source refuses still waits for it. All invoices that have ended when the wait begins share this
 * wait; otherwise the refused invoices in a backlog would wait one after another. An invoice that ends later starts a new wait.
 */
function isHeld({ nowMs }: WatchDependencies, progress: WatchProgress, endsMs: number, passedMs: number): boolean {
  const known = progress.refused;
  const isKnown = known !== null && endsMs < known.upToMs;
  const sinceMs = isKnown ? Math.min(known.sinceMs, nowMs()) : nowMs();
  progress.refused = { upToMs: isKnown ? known.upToMs : passedMs, sinceMs };
  return nowMs() - sinceMs < HELD_FOR_MS;
}

type Expiring = Awaited<ReturnType<typeof selectExpiring>>[number];

/** The rows to ask about now, and where the next pass begins. A walk continues for the invoices that it began with. */
function pageOf(rows: readonly Expiring[], walk: SecondWalk | null) {
  const end = walk === null ? -1 : rows.findIndex((row) => isBehind(row, walk.upTo));
  if (end > 0) return { page: rows.slice(0, end), last: rows[end], walk };
  // If the page is full, the next pass continues after its last row.
  const last = rows.length < METHODS_A_PASS ? undefined : rows.at(-1);
  return { page: rows, last, walk: end === 0 ? null : walk };
}

function isBehind({ expiresAtMs, invoiceId }: Expiring, of: Silent): boolean {
  return expiresAtMs > of.atMs || (expiresAtMs === of.atMs && invoiceId > of.invoiceId);
}

/** How far the second source was read for the next pass; null if this pass read it to the end. */
function walkAfter(
  known: SecondWalk | null,
  walk: Heard["walk"],
  of: { readonly first: Expiring; readonly page: readonly Expiring[]; readonly open: ReadonlySet<string> },
): SecondWalk | null {
  if (walk === null) return null;
  const { expiresAtMs: atMs, invoiceId } = of.page.at(-1) ?? of.first;
  const open = [...new Set([...walk.open, ...of.open])];
  return { ...walk, fromMs: of.first.expiresAtMs, upTo: known?.upTo ?? { atMs, invoiceId }, open };
}

/**
 * Applies the transfers that the first source has too. Returns the addresses with transfers that it does not have or that could not all be applied;
 * these count as refused.
 */
async function judge(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  { transfers: answers, refused, parts }: Heard,
): Promise<Step<ReadonlySet<string>>> {
  const transfers = [...answers.values(), ...parts].flat();
  const shared = await onOwnChain(deps, pass, client, { purpose: "silence", transfers });
  if (!shared.ok) return shared;
  const saved = await applied(deps, pass, { transfers: shared.value.transfers, seen: [], isHearsay: true });
  if (!saved.ok) return saved;
  // Another source may have answered for a refused address.
  for (const address of answers.keys()) refused.delete(address);
  // Two sources on two branches: a transfer that only the second one has makes the invoice wait, like a refused address.
  // The invoice also waits if not all of an address's transfers were applied.
  const left = saved.value.isWhole ? [] : shared.value.transfers.map(({ toAddress }) => toAddress);
  const open = new Set([...shared.value.open, ...left]);
  for (const address of open) refused.add(address);
  return ok(open);
}

/**
 * Stores the position in a long history, once the first source has all transfers that were read up to it. Even the last pages may take several
 * passes.
 */
function notePage(progress: WatchProgress, { page, transfers }: Heard, open: ReadonlySet<string>): void {
  const known = progress.page?.address;
  if (page !== null && !open.has(page.address)) progress.page = page;
  else if (known !== undefined && transfers.has(known) && !open.has(known)) progress.page = null;
}

/** Whether only the first source's index of logs or addresses, or its mempool, would show payments of an asset. */
function isIndexed({ network }: Pass, client: ChainClient, cryptocurrency: string): boolean {
  if (client.costsBy === "recipients" || network.family === "bitcoin") return true;
  return cryptocurrency !== network.nativeCode || network.nativeBy === "logs";
}
