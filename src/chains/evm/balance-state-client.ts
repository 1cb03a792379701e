// Balances, nonces and code of accounts after a block, from an EVM node. Most nodes keep the state of about the last 128 blocks; for older ones they
// return an error, each with its own message.
import type { Outage } from "../../lib/fetch-text.ts";
import { lazily } from "../../lib/lazily.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { outageOf, type RpcAnswer, type RpcCall, type RpcEdge, shaped } from "../sources/json-rpc-client.ts";
import type { BlockRef } from "../sources/transfer.ts";
import { balancesCall, MULTICALL, readBalances } from "./balance-call.ts";
import { pinned, SMALL_AT_ONCE } from "./batch-client.ts";
import { Bytes, quantity, Units } from "./rpc-json.ts";

/** Accounts in one call: about 250 kilobytes of call data and 4 million gas; nodes allow at least 25 million. */
const ACCOUNTS = 500;
/**
 * Calls per request, which then has one or two megabytes. With at most FEW_ACCOUNTS accounts the calls are small, so more are sent in one request.
 */
const MANY_AT_ONCE = 8;
const FEW_ACCOUNTS = 50;
/** How many chunks of accounts are encoded at a time. */
const CHUNKS = 4;
/** The most accounts on a chain without Multicall3, where each needs its own call. */
const ONE_BY_ONE = 1_000;

/** Balances after the block at that height; `balances` is undefined if the node does not have them. */
export interface Snapshot {
  readonly height: number;
  readonly balances: ReadonlyMap<string, bigint> | undefined;
}

interface Asked {
  readonly heights: readonly number[];
  readonly accounts: readonly string[];
  readonly to: BlockRef;
}

/** Snapshots in the order of the heights. On a chain without Multicall3, such as a private one, each account is asked for separately. */
export async function balancesAt(edge: RpcEdge, of: Asked): Promise<Result<readonly Snapshot[], Outage>> {
  const many = await byMulticall(edge, of);
  if (!many.ok) return many;
  return many.value === "no contract" ? byAccount(edge, of) : ok(many.value);
}

async function byMulticall(
  edge: RpcEdge,
  { heights, accounts, to }: Asked,
): Promise<Result<readonly Snapshot[] | "no contract", Outage>> {
  const found = heights.map(() => new Map<string, bigint>());
  const unread = new Set<number>();
  const atOnce = accounts.length > FEW_ACCOUNTS ? MANY_AT_ONCE : SMALL_AT_ONCE;
  // A few chunks at a time: the call data of many thousands of accounts would not fit in memory.
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
      const reported = reportedBalances(answer, chunk.length);
      if (!reported.ok) return reported;
      const balances = reported.value;
      if (balances === "no contract") return ok(balances);
      if (balances === undefined) unread.add(place);
      for (const [at, account] of chunk.entries()) found[place]?.set(account, balances?.[at] ?? 0n);
    }
  }
  return ok(heights.map((height, place) => ({ height, balances: unread.has(place) ? undefined : found[place] })));
}

async function byAccount(
  edge: RpcEdge,
  { heights, accounts, to }: Asked,
): Promise<Result<readonly Snapshot[], Outage>> {
  if (accounts.length > ONE_BY_ONE) return ok(heights.map((height) => ({ height, balances: undefined })));
  const found: Snapshot[] = [];
  for (const height of heights) {
    const asked = accounts.map((account) => ({ method: "eth_getBalance", height, account }) as const);
    const units = await askEach(edge, to, asked);
    if (!units.ok) return units;
    const reported = new Map<string, bigint>();
    for (const [place, account] of accounts.entries()) {
      const held = units.value[place];
      if (held !== undefined) reported.set(account, held);
    }
    found.push({ height, balances: reported.size === accounts.length ? reported : undefined });
  }
  return ok(found);
}

const callOf = ({ method, params }: RpcCall): RpcCall => ({ method, params });

function chunksFrom(accounts: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(accounts.length / ACCOUNTS);
  return Array.from({ length: count }, (_, place) => accounts.slice(place * ACCOUNTS, (place + 1) * ACCOUNTS));
}

/** Undefined for any refusal except a rate limit, which is an outage: nodes have many different error messages for pruned state. */
function reportedBalances(
  answer: RpcAnswer,
  count: number,
): Result<readonly bigint[] | "no contract" | undefined, Outage> {
  if (!answer.ok) {
    const refused = outageOf(answer.error);
    return refused.kind === "RATE_LIMITED" ? err(refused) : ok(undefined);
  }
  const bytes = shaped(Bytes, answer.value, "eth_call");
  return bytes.ok ? ok(readBalances(bytes.value, count) ?? "no contract") : bytes;
}

/**
 * The lowest height between `from` and `to` whose state the node has; it must have the state of `to`. A binary search, because nodes drop the oldest
 * state first; holes are detected later, when the balances are read.
 */
export async function stateFrom(
  edge: RpcEdge,
  { from, to }: { readonly from: number; readonly to: BlockRef },
): Promise<Result<number, Outage>> {
  let [low, high] = [from, to.height];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const probe = await askEach(edge, to, [{ method: "eth_getBalance", height: middle, account: MULTICALL }]);
    if (!probe.ok) return probe;
    if (probe.value[0] === undefined) low = middle + 1;
    else high = middle;
  }
  return ok(high);
}

/**
 * Whether coins could have left one of the accounts in the range without a trace in its balance: by a transaction that it sent, which raises its
 * nonce, or by its code, which leaves no trace at all (a smart wallet that forwards, or a key's account that delegates by EIP-7702). Also true if
 * the node refuses to answer. Code that an account gets within the range raises its nonce: a creation to 1, a delegation by 1. A nonce never
 * decreases, so an account with nonce 0 at the end had sent nothing before.
 */
export async function mayHaveSent(
  edge: RpcEdge,
  { accounts, from, to }: { readonly accounts: readonly string[]; readonly from: number; readonly to: BlockRef },
): Promise<Result<boolean, Outage>> {
  const asked = accounts.flatMap((account): readonly Question[] => [
    { method: "eth_getCode", height: from - 1, account },
    { method: "eth_getTransactionCount", height: to.height, account },
  ]);
  const told = await askEach(edge, to, asked);
  if (!told.ok) return told;
  const figures = accounts.map((account, place) => ({
    account,
    code: told.value[2 * place],
    nonce: told.value[2 * place + 1],
  }));
  if (figures.some(({ code, nonce }) => code !== 0n || nonce === undefined)) return ok(true);
  const senders = figures.filter(({ nonce }) => nonce !== 0n);
  const before = await askEach(
    edge,
    to,
    senders.map(({ account }) => ({ method: "eth_getTransactionCount", height: from - 1, account })),
  );
  return before.ok ? ok(senders.some(({ nonce }, place) => nonce !== before.value[place])) : before;
}

interface Question {
  readonly method: "eth_getTransactionCount" | "eth_getBalance" | "eth_getCode";
  /** The height of the block after which the state is read. */
  readonly height: number;
  readonly account: string;
}

/**
 * One number for each question, in order; undefined for a refusal other than a rate limit, which is an outage. For a question about code, the number
 * is its length.
 */
async function askEach(
  edge: RpcEdge,
  to: BlockRef,
  asked: readonly Question[],
): Promise<Result<readonly (bigint | undefined)[], Outage>> {
  const calls = asked.map(({ method, account, height }) => ({ method, params: [account, quantity(height)] }));
  const answers = await pinned(edge, to, calls);
  if (!answers.ok) return answers;
  const figures: (bigint | undefined)[] = [];
  for (const [place, answer] of answers.value.entries()) {
    const refused = answer.ok ? undefined : outageOf(answer.error);
    if (refused?.kind === "RATE_LIMITED") return err(refused);
    const method = asked[place]?.method ?? "";
    const schema = method === "eth_getCode" ? CodeLength : Units;
    const figure = answer.ok ? shaped(schema, answer.value, method) : ok(undefined);
    if (!figure.ok) return figure;
    figures.push(figure.value);
  }
  return ok(figures);
}

const CodeLength = lazily(() => Bytes().transform((code) => BigInt(code.length - 2)));
