// A transfer from another source counts only if its block is also on the current source's chain, or above that source's tip: two sources may be on
// two branches, and an index may show a block that has left the chain. Each address is checked separately. A shared address may have thousands of
// payments, so those already stored with the same block are not checked again, and the rest is checked a few blocks at a time.
import type { ChainClient } from "../../chains/sources/chain-client.ts";
import { type BlockRef, effectKey, type Transfer, transferKey } from "../../chains/sources/transfer.ts";
import { ok } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { selectStoredBlocks } from "./by-address/store.ts";
import { blockAt } from "./find-position.ts";
import type { Shared } from "./progress.ts";
import { type Pass, type Step, stored, type WatchDependencies } from "./watch-pass.ts";

/** The most blocks with transfers that one pass asks the first source for. */
const BLOCKS_A_PASS = 60;
/** Asks for no more blocks after this time. */
const LONGEST_MS = 10 * SECOND_MS;

interface OnOwnChain {
  /** Transfers that are not stored yet and are unconfirmed, above the first source's tip, or in blocks that it has too. */
  readonly transfers: readonly Transfer[];
  /**
   * Addresses for which something is open: a transfer is in a block that the first source does not have, or was not asked for yet; or a transfer is
   * stored in another block with a different effect. In the last case, the stored row must leave the chain first (superseded.ts), and the transfer is
   * read again until it can be stored.
   */
  readonly open: ReadonlySet<string>;
}

type Mined = Transfer & { readonly block: BlockRef };

/** Each `purpose` keeps its own position between passes. Addresses are handled in the given order. */
export async function onOwnChain(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  { purpose, transfers }: { readonly purpose: "silence" | "elsewhere"; readonly transfers: readonly Transfer[] },
): Promise<Step<OnOwnChain>> {
  const known = await readStored(deps, pass, transfers);
  if (!known.ok) return known;
  const { fresh, contested: open } = known.value;
  const shared: Transfer[] = [];
  const shown = Map.groupBy(transfers.filter(isMined), ({ toAddress }) => toAddress);
  const budget: Budget = { hashes: new Map(), left: BLOCKS_A_PASS, untilMs: deps.nowMs() + LONGEST_MS };
  for (const [address, all] of Map.groupBy(fresh, ({ toAddress }) => toAddress)) {
    // Transfers above the tip are accepted now; their blocks are checked once the current source has reached them.
    const mined = all
      .filter(isMined)
      .filter(({ block }) => block.height <= pass.tip.height)
      .toSorted((a, b) => a.block.height - b.block.height);
    const isAsked = new Set<Transfer>(mined);
    shared.push(...all.filter((transfer) => !isAsked.has(transfer)));
    const of = { address, mined, shown: shown.get(address) ?? [] };
    const place = await placeOf(pass, client, { ...of, place: pass.progress.shared[purpose] });
    if (!place.ok) return place;
    const proved = await prove(deps, pass, client, { ...of, place: place.value, budget });
    if (!proved.ok) return proved;
    shared.push(...proved.value.transfers);
    // The position stays, because contested transfers must be read and applied again.
    if (open.has(address)) continue;
    if (proved.value.isOpen) open.add(address);
    const isWorthKeeping = proved.value.isCut || pass.progress.shared[purpose]?.address === address;
    if (isWorthKeeping && proved.value.place !== undefined) pass.progress.setShared(purpose, proved.value.place);
  }
  return ok({ transfers: shared, open });
}

function isMined(transfer: Transfer): transfer is Mined {
  return transfer.block !== null;
}

/**
 * The transfers not yet stored with the same block (stored ones were already checked, and nothing about them is new), and the addresses of those
 * stored with a different effect in another block.
 */
async function readStored(
  deps: WatchDependencies,
  { network }: Pass,
  transfers: readonly Transfer[],
): Promise<Step<{ readonly fresh: readonly Transfer[]; readonly contested: Set<string> }>> {
  const mined = transfers.filter(isMined);
  if (mined.length === 0) return ok({ fresh: transfers, contested: new Set() });
  const list = JSON.stringify(mined.map(({ txHash, outputIndex }) => ({ txHash, outputIndex })));
  const rows = stored(await readWithRetry(deps.sleep, async () => selectStoredBlocks(deps.db, network.name, list)));
  if (!rows.ok) return rows;
  const known = new Set(rows.value.map((row) => `${effectKey(row)} ${row.blockHash}`));
  const byIdentity = Map.groupBy(rows.value, transferKey);
  const isContested = (each: Mined) =>
    byIdentity
      .get(transferKey(each))
      ?.some((row) => row.blockHash !== each.block.hash && effectKey(row) !== effectKey(each)) === true;
  return ok({
    fresh: transfers.filter((each) => !known.has(`${effectKey(each)} ${each.block?.hash}`)),
    contested: new Set(mined.filter(isContested).map(({ toAddress }) => toAddress)),
  });
}

interface Proved {
  readonly transfers: readonly Transfer[];
  readonly place: Shared | undefined;
  readonly isOpen: boolean;
  /** Whether the time or the number of requests was used up. */
  readonly isCut: boolean;
}

interface Budget {
  /** The first source's hashes, by height. */
  readonly hashes: Map<number, string>;
  left: number;
  readonly untilMs: number;
}

/** The transfers that a source shows for an address. */
interface OfAddress {
  readonly address: string;
  /** Mined transfers that are not stored yet, lowest first. */
  readonly mined: readonly Mined[];
  /** Mined transfers, stored or not. */
  readonly shown: readonly Mined[];
  readonly place: Shared | undefined;
}

/** How far an earlier pass proved these transfers; undefined if the first source no longer has the block that it reached. */
async function placeOf(pass: Pass, client: ChainClient, of: OfAddress): Promise<Step<Shared | undefined>> {
  const { place, address, mined, shown } = of;
  if (place?.address !== address || place.height > pass.tip.height) return ok(undefined);
  const covered = (all: readonly Mined[]) => all.filter(({ block }) => isCovered(place, block)).length;
  if (covered(mined) === 0 || covered(shown) > place.count) return ok(undefined);
  const own = await blockAt(pass, client, place.height);
  if (!own.ok) return own;
  return ok(own.value.hash === place.hash ? place : undefined);
}

function isCovered(place: Shared | undefined, { height }: BlockRef): boolean {
  return place !== undefined && place.from <= height && height <= place.height;
}

/** Asks for the blocks from the lowest on, as many as the pass may still ask for. */
async function prove(
  deps: WatchDependencies,
  pass: Pass,
  client: ChainClient,
  of: OfAddress & { readonly budget: Budget },
): Promise<Step<Proved>> {
  const { address, budget, mined, shown } = of;
  const from = mined[0]?.block.height ?? 0;
  const covered = mined.filter(({ block }) => isCovered(of.place, block));
  // If some of these transfers have been stored since the position was, the others are applied again: the position proves that all of them are on
  // this chain.
  const transfers: Transfer[] = covered.length === of.place?.left ? [] : [...covered];
  let { place } = of;
  let isOpen = false;
  for (const [n, { block, ...rest }] of mined.entries()) {
    if (isCovered(of.place, block)) continue;
    const { height, hash } = block;
    const known = budget.hashes.get(height);
    if (known === undefined && (budget.left === 0 || deps.nowMs() > budget.untilMs))
      return ok({ transfers, place: counted(), isOpen: true, isCut: true });
    if (known === undefined) budget.left--;
    const own = known === undefined ? await blockAt(pass, client, height) : ok({ hash: known });
    if (!own.ok) return own;
    budget.hashes.set(height, own.value.hash);
    if (own.value.hash === hash) transfers.push({ ...rest, block });
    else isOpen = true;
    if (!isOpen) place = { address, from, height, hash, count: 0, left: n + 1 };
  }
  return ok({ transfers, place: counted(), isOpen, isCut: false });

  function counted(): Shared | undefined {
    if (place === undefined || place === of.place) return place;
    return { ...place, count: shown.filter(({ block }) => isCovered(place, block)).length };
  }
}
