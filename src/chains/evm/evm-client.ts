// EVM chains through the JSON-RPC of any node or vendor: tokens by `eth_getLogs`; the native coin by the recipients' balances, together with the
// transactions of every block (Ethereum) or only of scans in which money may have moved (BNB, Cronos, rollups), or by logs if the chain logs each
// transfer of it (Polygon).
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type {
  ChainClient,
  ChainClientSettings,
  Lookup,
  LookupRequest,
  Scan,
  ScanRange,
} from "../sources/chain-client.ts";
import { outageOf, type RpcEdge, type RpcError, rpcCall, rpcValue, shaped } from "../sources/json-rpc-client.ts";
import { type BlockRef, growthHeight } from "../sources/transfer.ts";
import { type NativeScan, scanBalances } from "./balance-watch-client.ts";
import { scanLoggedTransfers } from "./logged-transfers-client.ts";
import { minedTransfers } from "./mined-transfers.ts";
import { Bytes, Hash, Height, quantity, RpcBlock, RpcReceipt, RpcTransaction } from "./rpc-json.ts";
import { type Wanted, wantedOf } from "./token-log.ts";

/** The most blocks in a scan that may read whole blocks. */
const FULL_BLOCKS = 200;

interface Part {
  readonly from: number;
  readonly to: BlockRef;
  readonly wanted: Wanted;
}

type EvmEdge = ChainClientSettings & RpcEdge;

/** One source of kind `evm-rpc`. It keeps nothing between calls. */
export function evmClient(settings: ChainClientSettings): ChainClient {
  const edge = { ...settings, isPlain: true } as const;
  return {
    kind: "evm-rpc",
    costsBy: "blocks",
    verify: () => verify(edge),
    tip: () => tip(edge),
    finalizedHeight: () => finalizedHeight(edge),
    block: (height) => blockAt(edge, height),
    scan: (range) => scan(edge, range),
    // Payments with 0 confirmations are not shown on EVM.
    mempool: async () => ok([]),
    lookup: (request) => lookup(edge, request),
    hasCode: (address) => hasCode(edge, address),
  };
}

function isNativeLogged({ network }: EvmEdge): boolean {
  return network.nativeBy === "logs";
}

async function verify(edge: EvmEdge): Promise<Result<true, Outage>> {
  const id = await rpcValue(edge, Height, "eth_chainId", []);
  if (!id.ok) return id;
  return id.value === edge.network.chainId
    ? ok(true)
    : err(outage("WRONG_CHAIN", "the source reports another chain id"));
}

async function tip(edge: EvmEdge): Promise<Result<BlockRef, Outage>> {
  const latest = await rpcValue(edge, RpcBlock, "eth_getBlockByNumber", ["latest", false]);
  if (!latest.ok) return latest;
  return latest.value === null ? err(outage("BEHIND", "the source has no block")) : ok(latest.value);
}

async function hasCode(edge: EvmEdge, address: string): Promise<Result<boolean, Outage>> {
  const code = await rpcValue(edge, Bytes, "eth_getCode", [address, "latest"]);
  return code.ok ? ok(code.value !== "0x") : code;
}

/** Null if the node does not support the tag, and before the chain's first final block. */
async function finalizedHeight(edge: EvmEdge): Promise<Result<number | null, Outage>> {
  const finalized = await blockBy(edge, "finalized", () => true);
  return finalized.ok ? ok(finalized.value?.height ?? null) : finalized;
}

function blockAt(edge: EvmEdge, height: number): Promise<Result<BlockRef | null, Outage>> {
  return blockBy(edge, quantity(height), isNotFound);
}

/** Also null for a refusal that `isNothing` accepts as "not found". */
async function blockBy(
  edge: EvmEdge,
  which: string,
  isNothing: (refusal: RpcError) => boolean,
): Promise<Result<BlockRef | null, Outage>> {
  const answer = await rpcCall(edge, "eth_getBlockByNumber", [which, false]);
  if (!answer.ok) return answer;
  if (answer.value.ok) return shaped(RpcBlock, answer.value.value, "eth_getBlockByNumber");
  const refused = outageOf(answer.value.error);
  return refused.kind !== "RATE_LIMITED" && isNothing(answer.value.error) ? ok(null) : err(refused);
}

async function scan(edge: EvmEdge, range: ScanRange): Promise<Result<Scan, Outage>> {
  const { from, recipients, assets } = range;
  if (recipients.size === 0 || assets.length === 0) return ok({ transfers: [], to: range.to });
  const wanted = wantedOf(recipients, assets);
  const readsBlocks = wanted.native !== null && !isNativeLogged(edge);
  const end = await endAt(edge, readsBlocks ? from + FULL_BLOCKS - 1 : range.to.height, range.to);
  if (!end.ok) return end;
  const logged = await scanLoggedTransfers(edge, { from, to: end.value, wanted, isNativeLogged: isNativeLogged(edge) });
  if (!logged.ok) return logged;
  const to = await endAt(edge, logged.value.toHeight, end.value);
  if (!to.ok) return to;
  const native = await nativeTransfers(edge, { from, to: to.value, wanted });
  if (!native.ok) return native;
  const { unread } = native.value;
  const transfers = [...logged.value.transfers, ...native.value.transfers];
  return ok({ transfers, to: to.value, ...(unread === null ? {} : { unread }) });
}

/** The block at that height if the height is below `to`; otherwise `to`. */
async function endAt(edge: EvmEdge, height: number, to: BlockRef): Promise<Result<BlockRef, Outage>> {
  if (height >= to.height) return ok(to);
  const read = await blockAt(edge, height);
  if (!read.ok) return read;
  return read.value === null ? err(outage("BEHIND", `block ${height} is missing`)) : ok(read.value);
}

async function nativeTransfers(edge: EvmEdge, of: Part): Promise<Result<NativeScan, Outage>> {
  if (of.wanted.native === null || isNativeLogged(edge)) return ok({ transfers: [], unread: null });
  return scanBalances(edge, { ...of, readsEveryBlock: edge.network.nativeBy === "blocks" });
}

async function lookup(edge: EvmEdge, { txHash, recipients }: LookupRequest): Promise<Result<Lookup, Outage>> {
  const wanted = wantedOf(recipients, edge.network.assets);
  const height = growthHeight(txHash);
  if (height !== undefined) return lookupGrowth(edge, height, wanted);
  const hash = Hash().safeParse(txHash);
  if (!hash.success) return ok({ kind: "unknown" });
  const known = await rpcValue(edge, () => RpcTransaction().nullable(), "eth_getTransactionByHash", [hash.data]);
  if (!known.ok) return known;
  if (known.value === null) return ok({ kind: "unknown" });
  const receipt = await rpcValue(edge, () => RpcReceipt().nullable(), "eth_getTransactionReceipt", [hash.data]);
  if (!receipt.ok) return receipt;
  if (receipt.value === null) return ok({ kind: "pending", transfers: [] });
  const at = await blockAt(edge, receipt.value.blockNumber);
  if (!at.ok) return at;
  if (at.value?.hash !== receipt.value.blockHash) return err(outage("BEHIND", "the receipt names another block"));
  const mined = { receipt: receipt.value, transaction: known.value, block: at.value };
  return ok({ kind: "mined", block: at.value, transfers: minedTransfers(mined, wanted, isNativeLogged(edge)) });
}

/** How much the recipients' balances grew in the block that is now at `height`. */
async function lookupGrowth(edge: EvmEdge, height: number, wanted: Wanted): Promise<Result<Lookup, Outage>> {
  if (isNativeLogged(edge)) return ok({ kind: "unknown" });
  const at = await blockAt(edge, height);
  if (!at.ok) return at;
  if (at.value === null) return ok({ kind: "unknown" });
  const found = await nativeTransfers(edge, { from: height, to: at.value, wanted });
  if (!found.ok) return found;
  const transfers = found.value.transfers.filter(({ growth }) => growth !== undefined);
  const mined = { kind: "mined", block: at.value, transfers } as const;
  return ok(found.value.unread === null ? mined : { ...mined, isUnread: true });
}

/** Some nodes return an error for a block above their tip; others return null. */
function isNotFound({ message }: RpcError): boolean {
  return /not found|unknown block|no such block|could not find/i.test(message);
}
