// Sources of chain data that answer at once and count requests: the cost of a poll is its number of requests, which is the same on every machine.
// They serve a chain of empty blocks; the newest block may have token logs.
import * as z from "zod";

interface Asked {
  /** HTTP requests. */
  requests: number;
  /** Calls in these requests: a batch is one request with many calls. */
  calls: number;
}

export interface FakeNode {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly asked: Asked;
}

export interface FakeChain {
  readonly tipHeight: number;
  readonly chainId: number | null;
  readonly genesisHash: string | null;
  /** The result of eth_getLogs as JSON text; "[]" by default. */
  readonly logs?: string;
}

interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

const GENESIS_SECONDS = 1_700_000_000;
const BLOCK_SECONDS = 12;

/** JSON-RPC as used by EVM nodes, java-tron and Bitcoin Core. */
export function fakeRpcNode(chain: FakeChain): FakeNode {
  const asked: Asked = { requests: 0, calls: 0 };
  return {
    asked,
    fetch: async (_url, init) => {
      const body: RpcRequest | readonly RpcRequest[] = JSON.parse(String(init.body));
      const requests = Array.isArray(body) ? body : [body];
      asked.requests++;
      asked.calls += requests.length;
      const answers = requests.map(
        ({ id, method, params }) => `{"jsonrpc":"2.0","id":${id},"result":${rpcResult(chain, method, params)}}`,
      );
      const text = Array.isArray(body) ? `[${answers.join(",")}]` : (answers[0] ?? "");
      return new Response(text, { headers: { "content-type": "application/json" } });
    },
  };
}

/** The address APIs: Esplora, Blockbook, TronGrid. Their answers contain no payments. */
export function fakeAddressApi(chain: FakeChain): FakeNode {
  const asked: Asked = { requests: 0, calls: 0 };
  return {
    asked,
    fetch: async (url, init) => {
      asked.requests++;
      asked.calls++;
      const { pathname } = new URL(url);
      const answer = addressAnswer(chain, pathname, init);
      return typeof answer === "string"
        ? new Response(answer, { headers: { "content-type": "text/plain" } })
        : Response.json(answer);
    },
  };
}

function hashAt(chain: FakeChain, height: number): string {
  if (height === 0 && chain.genesisHash !== null) return chain.genesisHash;
  return height.toString(16).padStart(64, "a");
}

function secondsAt(height: number): number {
  return GENESIS_SECONDS + height * BLOCK_SECONDS;
}

function rpcResult(chain: FakeChain, method: string, params: readonly unknown[]): string {
  const [first] = params;
  switch (method) {
    case "eth_chainId":
      return `"0x${(chain.chainId ?? 0).toString(16)}"`;
    case "eth_blockNumber":
      return `"0x${chain.tipHeight.toString(16)}"`;
    case "eth_getBlockByNumber":
      return evmBlock(chain, first);
    case "eth_getLogs":
      return chain.logs ?? "[]";
    case "eth_call":
      return `"${noBalances(params)}"`;
    case "eth_getTransactionCount":
      return '"0x1"';
    case "eth_getCode":
      return '"0x"';
    case "eth_getBlockReceipts":
      return "[]";
    case "getblockcount":
      return String(chain.tipHeight);
    case "getbestblockhash":
      return `"${hashAt(chain, chain.tipHeight)}"`;
    case "getblockhash":
      return `"${hashAt(chain, Number(first))}"`;
    case "getblockheader":
    case "getblock":
      return coreBlock(chain, String(first));
    case "getblockchaininfo":
      return JSON.stringify({ blocks: chain.tipHeight, bestblockhash: hashAt(chain, chain.tipHeight) });
    case "getrawmempool":
      return "[]";
    default:
      throw new Error(`the fake node does not know ${method}`);
  }
}

function evmBlock(chain: FakeChain, tag: unknown): string {
  const height = String(tag).startsWith("0x") ? Number(tag) : chain.tipHeight;
  if (height > chain.tipHeight) return "null";
  return JSON.stringify({
    number: `0x${height.toString(16)}`,
    hash: `0x${hashAt(chain, height)}`,
    parentHash: `0x${hashAt(chain, height - 1)}`,
    timestamp: `0x${secondsAt(height).toString(16)}`,
    transactions: [],
  });
}

function coreBlock(chain: FakeChain, hash: string): string {
  const height = hash === chain.genesisHash ? 0 : Number.parseInt(hash.replace(/^a+/, ""), 16);
  return JSON.stringify({
    hash,
    height,
    time: secondsAt(height),
    confirmations: chain.tipHeight - height + 1,
    previousblockhash: height === 0 ? undefined : hashAt(chain, height - 1),
    tx: [],
  });
}

const EVM_CALL = z.object({ data: z.string().optional(), input: z.string().optional() });

/** Multicall3's aggregate3 answer to the requested calls: each succeeded with a zero balance. */
function noBalances([call]: readonly unknown[]): string {
  const { data: given, input } = EVM_CALL.parse(call);
  const data = String(given ?? input);
  const count = Number.parseInt(data.slice(2 + 8 + 64, 2 + 8 + 128), 16);
  const word = (value: number) => value.toString(16).padStart(64, "0");
  const heads = Array.from({ length: count }, (_, i) => word(count * 32 + i * 128));
  const tails = Array.from({ length: count }, () => word(1) + word(64) + word(32) + word(0));
  return `0x${word(32)}${word(count)}${heads.join("")}${tails.join("")}`;
}

function addressAnswer(chain: FakeChain, path: string, init: RequestInit): unknown {
  const tip = { hash: hashAt(chain, chain.tipHeight), height: chain.tipHeight };
  if (/\/blocks\/tip\/height$/.test(path)) return String(tip.height);
  if (/\/blocks\/tip\/hash$/.test(path)) return tip.hash;
  const byHeight = /\/(?:block-height|block-index)\/(\d+)$/.exec(path)?.[1];
  if (byHeight !== undefined) {
    const hash = hashAt(chain, Number(byHeight));
    return path.includes("block-index") ? { blockHash: hash } : hash;
  }
  const block = /\/block\/([0-9a-f]{64})/.exec(path)?.[1];
  if (block !== undefined) {
    const height = block === chain.genesisHash ? 0 : Number.parseInt(block.replace(/^a+/, ""), 16);
    return { id: block, hash: block, height, timestamp: secondsAt(height), time: secondsAt(height) };
  }
  if (/\/address\/[^/]+\/txs/.test(path)) return [];
  if (/\/api\/v2\/address\//.test(path))
    return { page: 1, totalPages: 1, itemsOnPage: 50, address: path.split("/").at(-1) };
  if (/\/api(\/v2)?\/?$/.test(path))
    return { blockbook: { bestHeight: tip.height }, backend: { bestBlockHash: tip.hash } };
  if (/\/v1\/accounts\//.test(path)) return { data: [], success: true, meta: { at: 0, page_size: 0 } };
  if (/getnowblock$|getblockbynum$/.test(path)) {
    const { num } = init.body === undefined ? { num: undefined } : JSON.parse(String(init.body));
    const number = path.endsWith("bynum") ? Number(num) : tip.height;
    const blockID = number === 0 ? chain.genesisHash : number.toString(16).padStart(16, "0").padEnd(64, "a");
    return { blockID, block_header: { raw_data: { number, timestamp: secondsAt(number) * 1_000 } } };
  }
  throw new Error(`the fake API does not know ${path}`);
}
