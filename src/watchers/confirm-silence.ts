// Before an invoice may expire: a source that found nothing in its index is no proof that there is nothing, so what would expire is asked of a
// second source too, where one is configured (chains.md 1, provider rule e). Blocks that were read whole need none: they cannot leave out
// their own transactions.
import type { ChainClient } from "../chains/chain-client.ts";
import { readWithRetry } from "../db/retry.ts";
import { type Outage, outage } from "../lib/fetch-text.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { MINUTE_MS, SECOND_MS } from "../lib/time.ts";
import type { NetworkCursor } from "../payments/cursor.ts";
import type { BlockRef, Transfer } from "../payments/transfer.ts";
import { askEach, MOST_REFUSED } from "./ask-each.ts";
import { askControl, askHistory } from "./by-address/ask-history.ts";
import { applied, type Pass, type Step, stored, type WatchEffects } from "./commit-cursor.ts";
import { blockAt } from "./find-position.ts";
import { selectExpiring } from "./store.ts";

/** Addresses that the second source is asked for at once; the next pass goes on behind them. */
const ADDRESSES_A_PASS = 50;
/** Of one address of a second source that is asked by address. */
const PAGES = 8;
/** After so long no more addresses are asked for. */
const LONGEST_MS = 15 * SECOND_MS;
/** A second source that cannot be asked holds invoices open for so long, and no longer. */
const HELD_FOR_MS = 5 * MINUTE_MS;
/** How far back it is asked: days of most chains. */
const MOST_BLOCKS = 5_000;

/** Up to which moment everything has been read: `to.passedMs`, or the end of the first invoice that must wait for the second source. */
export async function confirmSilence(
  fx: WatchEffects,
  pass: Pass,
  client: ChainClient,
  cursor: NetworkCursor,
  to: BlockRef & { readonly passedMs: number },
): Promise<Step<number>> {
  const { network, progress } = pass;
  const passedMs = Math.max(cursor.passedMs, to.passedMs);
  if (passedMs === cursor.passedMs || !fx.pool.hasSecond()) return ok(passedMs);
  // Any number of invoices may end at one moment: those of it that were asked for are not asked for again.
  const after = progress.silent?.atMs === cursor.passedMs ? progress.silent.position : 0;
  const window = { network: network.name, fromMs: cursor.passedMs, after, beforeMs: passedMs, limit: ADDRESSES_A_PASS };
  const rows = stored(await readWithRetry(fx.sleep, async () => selectExpiring(fx.db, window)));
  if (!rows.ok) return rows;
  // Those behind a full page are asked for by the next pass.
  const last = rows.value.length < ADDRESSES_A_PASS ? undefined : rows.value.at(-1);
  const reachedMs = last?.expiresAtMs ?? passedMs;
  const reached = () => {
    progress.silent = last === undefined ? null : { atMs: last.expiresAtMs, position: last.position };
    return ok(reachedMs);
  };
  const due = rows.value.filter(({ cryptocurrency }) => isIndexed(pass, client, cryptocurrency));
  const [first] = due;
  if (first === undefined) return reached();
  const recipients = new Set(due.map(({ address }) => address));
  const sinceMs = Math.min(...due.map(({ activatedAtMs }) => activatedAtMs));
  const found = await fx.pool.attemptWithout(client, fx.nowMs(), (second) =>
    scanBy(fx, second, pass, { recipients, sinceMs, to }),
  );
  if (!found.ok) {
    progress.unsecondedMs ??= fx.nowMs();
    return fx.nowMs() - progress.unsecondedMs < HELD_FOR_MS ? ok(first.expiresAtMs) : reached();
  }
  progress.unsecondedMs = null;
  const shared = await onOwnChain(pass, client, found.value.value);
  if (!shared.ok) return shared;
  const stands = await applied(fx, pass, { transfers: shared.value, seen: [] });
  if (!stands.ok) return stands;
  // Two sources on two forks: what only the other one has is waited for.
  return shared.value.length === found.value.value.length ? reached() : ok(first.expiresAtMs);
}

/** Whether the first source found payments of an asset by an index of its own: of logs, or of addresses. */
function isIndexed({ network }: Pass, client: ChainClient, cryptocurrency: string): boolean {
  if (client.costsBy === "recipients") return true;
  if (network.family === "bitcoin") return false;
  return cryptocurrency !== network.nativeCode || network.nativeBy === "logs";
}

async function scanBy(
  fx: WatchEffects,
  second: ChainClient,
  pass: Pass,
  of: { readonly recipients: ReadonlySet<string>; readonly sinceMs: number; readonly to: BlockRef },
): Promise<Result<readonly Transfer[], Outage>> {
  const { network, progress } = pass;
  const { recipients, sinceMs, to } = of;
  const tip = await second.tip();
  if (!tip.ok) return tip;
  if (tip.value.height < to.height) return err(outage("BEHIND", "the second source is behind the first"));
  const blocks = Math.ceil((to.timeMs - sinceMs) / (network.blockSeconds * SECOND_MS)) + 2 * network.overlapBlocks;
  const from = Math.max(0, to.height - Math.min(MOST_BLOCKS, blocks));
  if (second.history !== undefined) {
    const look = (address: string) =>
      askHistory(second, { address, from, to: tip.value, assets: network.assets, after: null, pages: PAGES });
    const answers = await askEach(recipients, {
      ask: look,
      control: (answered, failed) =>
        askControl(network, [...answered, ...progress.good.filter((each) => !failed.has(each))], look),
      nowMs: fx.nowMs,
      mostRefused: MOST_REFUSED,
      untilMs: fx.nowMs() + LONGEST_MS,
    });
    if (answers.outage !== undefined) return err(answers.outage);
    // One that the second source refuses by itself is left to the first one's word: it keeps nobody else waiting.
    const isWhole = answers.answers.size + answers.refused.size === recipients.size;
    if (!isWhole) return err(outage("TIMEOUT", "the second source is slow"));
    return ok([...answers.answers.values()].flatMap(({ transfers }) => transfers));
  }
  // Of a source that reads whole blocks, only what its index has: their coins would cost it a request for each block.
  const isByBlock = second.costsBy === "blocks" && network.family !== "bitcoin" && network.nativeBy !== "logs";
  const assets = network.assets.filter(({ contract }) => contract !== null || !isByBlock);
  const scan = await second.scan({ from, to: tip.value, recipients, assets });
  if (!scan.ok) return scan;
  if (scan.value.to.height < to.height) return err(outage("BEHIND", "the second source read less than the first"));
  const mempool = await second.mempool(recipients);
  return mempool.ok ? ok([...scan.value.transfers, ...mempool.value]) : mempool;
}

/** Transfers in blocks that the first source has too. */
async function onOwnChain(
  pass: Pass,
  client: ChainClient,
  transfers: readonly Transfer[],
): Promise<Step<readonly Transfer[]>> {
  const shared: Transfer[] = [];
  const hashes = new Map<number, string>();
  for (const transfer of transfers) {
    const { block } = transfer;
    // Above the own tip it is found when that has come as far.
    const isAsked = block !== null && block.height <= pass.tip.height && !hashes.has(block.height);
    const own = isAsked ? await blockAt(pass, client, block.height) : ok(null);
    if (!own.ok) return own;
    if (own.value !== null) hashes.set(own.value.height, own.value.hash);
    const hash = block === null ? undefined : hashes.get(block.height);
    if (hash === undefined || hash === block?.hash) shared.push(transfer);
  }
  return ok(shared);
}
