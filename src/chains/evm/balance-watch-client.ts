// Finds payments in the native coin by the recipients' balances: coins that a contract moved are in the balance but in no list of transactions. On
// BNB, Cronos and the rollups (`nativeBy`: `balances`) blocks are not read if nothing can have arrived: no balance and no nonce changed, and no
// recipient has code. A nonce counts because a sweep in the same span would hide a payment; code counts because it can forward a payment without a
// nonce. On ETH every block is read, and the balances show what the blocks do not. Nothing is kept between two scans: each asks the node for the
// state before its first block.
import type { Outage } from "../../lib/fetch-text.ts";
import { outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { UnreadBlocks } from "../sources/chain-client.ts";
import type { RpcEdge } from "../sources/json-rpc-client.ts";
import type { BlockRef, Transfer } from "../sources/transfer.ts";
import { type BalanceMove, growthTransfer, sumOf, unexplainedUnits } from "./balance-change.ts";
import { balancesAt, mayHaveSent, type Snapshot, stateFrom } from "./balance-state-client.ts";
import { FULL_AT_ONCE, SMALL_AT_ONCE } from "./batch-client.ts";
import { type ScannedBlock, scanBlocks } from "./block-scan-client.ts";
import type { Wanted } from "./token-log.ts";

interface BalanceScan {
  readonly from: number;
  readonly to: BlockRef;
  readonly wanted: Wanted;
  /** If false, the blocks are read only if something in the range moved, or could have moved unseen. */
  readonly readsEveryBlock: boolean;
}

export interface NativeScan {
  readonly transfers: readonly Transfer[];
  readonly unread: UnreadBlocks | null;
}

/**
 * If every block is read, up to this many accounts are read after each block of a scan, in one call for each block. Nothing can then stay hidden, not
 * even money that a recipient's own code sent on before the scan ended. Otherwise accounts are read only before the first and after the last block,
 * and in between only if these balances do not match the transactions.
 */
const EACH_BLOCK_ACCOUNTS = 500;

/** Transfers in the range; `unread` names the blocks whose balances the node lacks, so that payments by contracts in them are not seen. */
export async function scanBalances(edge: RpcEdge, of: BalanceScan): Promise<Result<NativeScan, Outage>> {
  const { from, to, wanted, readsEveryBlock } = of;
  const accounts = [...wanted.recipients];
  // Before the first block of a chain there is no balance.
  const known = from === 0 ? ok([]) : await history(edge, of, accounts);
  if (!known.ok) return known;
  const snapshots = known.value;
  const first = snapshots[0]?.height ?? to.height;
  const unread = from === 0 || first < from ? null : { from, to: first };
  if (!readsEveryBlock && unread === null && from > 0) {
    const moved = await mayHaveMoved(edge, of, snapshots);
    if (!moved.ok) return moved;
    if (!moved.value) return ok({ transfers: [], unread });
  }
  const blocks = await scanBlocks(edge, { from, to, wanted, isSpendingRead: true });
  if (!blocks.ok) return blocks;
  const grown = await growthIn(edge, { snapshots, accounts, to, blocks: blocks.value, code: wanted.native ?? "" });
  if (!grown.ok) return grown;
  return ok({ transfers: [...blocks.value.flatMap(({ transfers }) => transfers), ...grown.value], unread });
}

/** Balances of the accounts, ascending by height, from the oldest state that the node has; empty if it has none. */
async function history(
  edge: RpcEdge,
  { from, to, readsEveryBlock }: BalanceScan,
  accounts: readonly string[],
): Promise<Result<readonly Snapshot[], Outage>> {
  const isEach = readsEveryBlock && accounts.length <= EACH_BLOCK_ACCOUNTS;
  const heights = isEach ? heightsOf(from - 1, to.height) : [from - 1, to.height];
  const read = await balancesAt(edge, { heights, accounts, to });
  if (!read.ok || read.value.every(({ balances }) => balances !== undefined))
    return read.ok ? ok(sinceLastGap(read.value)) : read;
  const last = read.value.at(-1);
  if (isEach || last?.balances === undefined) return ok(sinceLastGap(read.value));
  const begin = await stateFrom(edge, { from, to });
  if (!begin.ok || begin.value >= to.height) return begin.ok ? ok(sinceLastGap([last])) : begin;
  const later = await balancesAt(edge, { heights: [begin.value], accounts, to });
  return later.ok ? ok(sinceLastGap([...later.value, last])) : later;
}

/** The snapshots after the last gap: earlier ones cannot be compared across it. */
function sinceLastGap(read: readonly Snapshot[]): readonly Snapshot[] {
  return read.slice(read.findLastIndex(({ balances }) => balances === undefined) + 1);
}

async function mayHaveMoved(
  edge: RpcEdge,
  { from, to, wanted }: BalanceScan,
  snapshots: readonly Snapshot[],
): Promise<Result<boolean, Outage>> {
  const accounts = [...wanted.recipients];
  const [before, after] = snapshots;
  const isStill = accounts.every((account) => before?.balances?.get(account) === after?.balances?.get(account));
  if (!isStill || !askingIsCheaper(accounts.length, to.height - from + 1)) return ok(true);
  return mayHaveSent(edge, { accounts, from, to });
}

/** Two questions for each account: its nonce and its code. */
const QUESTIONS = 2;

/**
 * Whether asking about the accounts costs no more than reading the blocks, which gives the same answer at a cost that does not grow with the
 * recipients.
 */
function askingIsCheaper(accounts: number, blocks: number): boolean {
  return Math.ceil((QUESTIONS * accounts) / SMALL_AT_ONCE) <= Math.ceil(blocks / FULL_AT_ONCE);
}

interface GrowthRange {
  readonly snapshots: readonly Snapshot[];
  readonly accounts: readonly string[];
  readonly to: BlockRef;
  readonly blocks: readonly ScannedBlock[];
  readonly code: string;
}

/** Growth by block. If several blocks together do not match their transactions, the balances between them show in which block a balance grew. */
async function growthIn(edge: RpcEdge, of: GrowthRange): Promise<Result<readonly Transfer[], Outage>> {
  const { snapshots, accounts, to, blocks, code } = of;
  const transfers: Transfer[] = [];
  for (const [place, after] of snapshots.entries()) {
    const before = snapshots[place - 1];
    if (before === undefined) continue;
    const within = blocks.filter(({ block }) => block.height > before.height && block.height <= after.height);
    const moves = movesOf(accounts, { before, after, blocks: within });
    const open = moves.filter((move) => unexplainedUnits(move) !== 0n);
    const [only] = within;
    if (within.length === 1 && only !== undefined) {
      const grown = open.filter((move) => unexplainedUnits(move) > 0n);
      transfers.push(...grown.map((move) => growthTransfer(move, only.block, code)));
    } else if (open.length > 0) {
      const differing = open.map(({ account }) => account);
      const heights = heightsOf(before.height, after.height);
      const between = await balancesAt(edge, { heights, accounts: differing, to });
      if (!between.ok) return between;
      if (between.value.some(({ balances }) => balances === undefined))
        return err(outage("BEHIND", "the node lacks the state of a block inside the range"));
      const located = await growthIn(edge, { ...of, snapshots: between.value, accounts: differing, blocks: within });
      if (!located.ok) return located;
      transfers.push(...located.value);
    }
  }
  return ok(transfers);
}

function movesOf(
  accounts: readonly string[],
  of: { readonly before: Snapshot; readonly after: Snapshot; readonly blocks: readonly ScannedBlock[] },
): readonly BalanceMove[] {
  return accounts.map((account) => ({
    account,
    before: of.before.balances?.get(account) ?? 0n,
    after: of.after.balances?.get(account) ?? 0n,
    explained: sumOf(of.blocks.flatMap(({ changes }) => changes.get(account) ?? [])),
  }));
}

/** All heights from `from` to `to`, both included. */
function heightsOf(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, place) => from + place);
}
