// The native coin by what recipients hold (BNB, Cronos; chains.md 1): blocks are read only where a balance moved, or a nonce, for a sweep in
// the same moment would hide a payment. It also sees what no list of transactions shows: coins that a contract moved.
import type { Outage } from "../../lib/fetch-text.ts";
import { outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { BlockRef, Transfer } from "../../payments/transfer.ts";
import { outageOf, type RpcAnswer, type RpcCall, type RpcEdge, shaped } from "../json-rpc-client.ts";
import { balancesCall, MULTICALL, readBalances } from "./balance-call.ts";
import { type Growth, unexplainedTransfer, unexplainedUnits } from "./balance-change.ts";
import { FULL_AT_ONCE, pinned, SMALL_AT_ONCE } from "./batch-client.ts";
import { type ScannedBlock, scanBlocks } from "./block-scan-client.ts";
import { Bytes, quantity, Units } from "./rpc-json.ts";
import type { Wanted } from "./token-log.ts";

export interface BalanceScan {
  readonly from: number;
  readonly to: BlockRef;
  readonly wanted: Wanted;
}

/** Accounts in one call: some 250 kilobytes of call data, and 4 million of gas, of which nodes allow from 25 million on. */
const ACCOUNTS = 500;
/** Such calls in one request, a megabyte or two; more of them where they are about few accounts. */
const MANY_AT_ONCE = 8;
const FEW_ACCOUNTS = 50;
/** Of accounts, that are encoded at a time. */
const CHUNKS = 4;

/** By account; undefined where the node does not tell, because it keeps no state of that block any more or the contract is not there. */
type Balances = ReadonlyMap<string, bigint> | undefined;

/** Transfers in the range; where the node cannot tell the balances, those that the blocks show and no others. */
export async function scanBalances(
  edge: RpcEdge,
  { from, to, wanted }: BalanceScan,
): Promise<Result<readonly Transfer[], Outage>> {
  const accounts = [...wanted.recipients];
  const ends = from === 0 ? ok([]) : await balancesAt(edge, { heights: [from - 1, to.height], accounts, to });
  if (!ends.ok) return ends;
  const [before, after] = ends.value;
  const read = () => scanBlocks(edge, { from, to, wanted, isSpendingRead: true });
  if (before === undefined || after === undefined) {
    const blocks = await read();
    return blocks.ok ? ok(blocks.value.flatMap(({ transfers }) => transfers)) : blocks;
  }
  const isStill = accounts.every((account) => before.get(account) === after.get(account));
  if (isStill && noncesAreCheaper(accounts.length, to.height - from + 1)) {
    const spent = await haveSent(edge, { accounts, from, to });
    if (!spent.ok || !spent.value) return spent.ok ? ok([]) : spent;
  }
  const blocks = await read();
  if (!blocks.ok) return blocks;
  const transfers = blocks.value.flatMap((each) => each.transfers);
  const grown = accounts.filter((account) => {
    const explained = blocks.value.reduce((sum, { changes }) => sum + (changes.get(account) ?? 0n), 0n);
    return unexplainedUnits(growthOf(account, { before, after, explained })) > 0n;
  });
  if (grown.length === 0) return ok(transfers);
  const located = await locate(edge, { grown, from, to, blocks: blocks.value, code: wanted.native ?? "" });
  return located.ok ? ok([...transfers, ...located.value]) : located;
}

/** Reading the blocks answers the same, and does not grow with the recipients. */
function noncesAreCheaper(accounts: number, blocks: number): boolean {
  return Math.ceil(accounts / SMALL_AT_ONCE) <= Math.ceil(blocks / FULL_AT_ONCE);
}

/** The blocks in which money came that nothing explains, by the balances after each of them. */
async function locate(
  edge: RpcEdge,
  of: {
    readonly grown: readonly string[];
    readonly from: number;
    readonly to: BlockRef;
    readonly blocks: readonly ScannedBlock[];
    readonly code: string;
  },
): Promise<Result<readonly Transfer[], Outage>> {
  const heights = Array.from({ length: of.blocks.length + 1 }, (_, place) => of.from - 1 + place);
  const balances = await balancesAt(edge, { heights, accounts: of.grown, to: of.to });
  if (!balances.ok) return balances;
  const transfers: Transfer[] = [];
  for (const [place, { block, changes }] of of.blocks.entries()) {
    const [before, after] = balances.value.slice(place, place + 2);
    if (before === undefined || after === undefined) return err(outage("BEHIND", "state within a range is missing"));
    for (const account of of.grown) {
      const growth = growthOf(account, { before, after, explained: changes.get(account) ?? 0n });
      if (unexplainedUnits(growth) > 0n) transfers.push(unexplainedTransfer(growth, block, of.code));
    }
  }
  return ok(transfers);
}

function growthOf(
  account: string,
  of: {
    readonly before: ReadonlyMap<string, bigint>;
    readonly after: ReadonlyMap<string, bigint>;
    readonly explained: bigint;
  },
): Growth {
  return { account, before: of.before.get(account) ?? 0n, after: of.after.get(account) ?? 0n, explained: of.explained };
}

/** In the order of the heights. */
async function balancesAt(
  edge: RpcEdge,
  of: { readonly heights: readonly number[]; readonly accounts: readonly string[]; readonly to: BlockRef },
): Promise<Result<readonly Balances[], Outage>> {
  const { heights, accounts, to } = of;
  const balances = heights.map(() => new Map<string, bigint>());
  const untold = new Set<number>();
  const atOnce = accounts.length > FEW_ACCOUNTS ? MANY_AT_ONCE : SMALL_AT_ONCE;
  // Some at a time, or the call data of many thousands would be in memory all at once.
  for (let first = 0; first < accounts.length; first += ACCOUNTS * CHUNKS) {
    const chunks = chunksFrom(accounts.slice(first, first + ACCOUNTS * CHUNKS));
    const asked = chunks.flatMap((chunk) => {
      const call = { to: MULTICALL, data: balancesCall(chunk) };
      return heights.map((height, place) => ({ chunk, place, method: "eth_call", params: [call, quantity(height)] }));
    });
    const answers = await pinned(edge, to, asked.map(callOf), atOnce);
    if (!answers.ok) return answers;
    for (const [index, answer] of answers.value.entries()) {
      const { chunk = [], place = 0 } = asked[index] ?? {};
      const told = toldBalances(answer, chunk.length);
      if (!told.ok) return told;
      if (told.value === undefined) untold.add(place);
      for (const [at, account] of chunk.entries()) balances[place]?.set(account, told.value?.[at] ?? 0n);
    }
  }
  return ok(balances.map((each, place) => (untold.has(place) ? undefined : each)));
}

const callOf = ({ method, params }: RpcCall): RpcCall => ({ method, params });

function chunksFrom(accounts: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(accounts.length / ACCOUNTS);
  return Array.from({ length: count }, (_, i) => accounts.slice(i * ACCOUNTS, (i + 1) * ACCOUNTS));
}

/** Undefined for a refusal: nodes have many words for state that they dropped, and the blocks tell in any case. */
function toldBalances(answer: RpcAnswer, count: number): Result<readonly bigint[] | undefined, Outage> {
  if (!answer.ok) {
    const refused = outageOf(answer.error);
    return refused.kind === "RATE_LIMITED" ? err(refused) : ok(undefined);
  }
  const bytes = shaped(Bytes, answer.value, "eth_call");
  return bytes.ok ? ok(readBalances(bytes.value, count)) : bytes;
}

/** Whether one of the accounts has sent a transaction in the range. A nonce never falls, so who has none at its end had none before. */
async function haveSent(
  edge: RpcEdge,
  { accounts, from, to }: { readonly accounts: readonly string[]; readonly from: number; readonly to: BlockRef },
): Promise<Result<boolean, Outage>> {
  const after = await noncesAt(edge, to, to.height, accounts);
  if (!after.ok) return after;
  const senders = accounts.filter((_, place) => after.value[place] !== 0n);
  const before = await noncesAt(edge, to, from - 1, senders);
  if (!before.ok) return before;
  const was = new Map(senders.map((account, place) => [account, before.value[place]]));
  return ok(accounts.some((account, place) => was.has(account) && was.get(account) !== after.value[place]));
}

/** Undefined for a refusal, which counts as a nonce that moved. */
async function noncesAt(
  edge: RpcEdge,
  to: BlockRef,
  height: number,
  accounts: readonly string[],
): Promise<Result<readonly (bigint | undefined)[], Outage>> {
  const calls = accounts.map((account) => ({ method: "eth_getTransactionCount", params: [account, quantity(height)] }));
  const answers = await pinned(edge, to, calls);
  if (!answers.ok) return answers;
  const nonces: (bigint | undefined)[] = [];
  for (const answer of answers.value) {
    const refused = answer.ok ? undefined : outageOf(answer.error);
    if (refused?.kind === "RATE_LIMITED") return err(refused);
    const nonce = answer.ok ? shaped(Units, answer.value, "eth_getTransactionCount") : ok(undefined);
    if (!nonce.ok) return nonce;
    nonces.push(nonce.value);
  }
  return ok(nonces);
}
