// TRON's interfaces over a real EVM chain: java-tron's `/jsonrpc`, its HTTP API, and TronGrid's v1 lists of accounts. One wei stands for one sun, so
// values are as on TRON. Tests switch faults on and off.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { listen } from "./listen.ts";
import { TronAccountLists } from "./tron-account-lists.ts";
import { type Rpc, TronChain } from "./tron-chain.ts";
import { TronJsonRpc } from "./tron-json-rpc.ts";
import { TronWalletApi } from "./tron-wallet-api.ts";

/** `throttled`: java-tron's 200 with `{"Error"}`; `suspended`: TronGrid's 403 that means 429; `forbidden`: its 403 for a wrong key. */
type Fault = "throttled" | "suspended" | "forbidden" | null;

export interface TronStandIn {
  /** TronGrid's URL; java-tron's is `/jsonrpc` below it. */
  readonly url: string;
  fault: Fault;
  /** If true, `eth_getLogs` always answers `[]`. */
  isBlind: boolean;
  /** How many blocks the answering node lags behind the chain. */
  behind: number;
  /** Whether there is an HTTP API in addition to JSON-RPC. */
  hasWallet: boolean;
  /** Whether the node was started with `saveInternalTx`. */
  keepsInternal: boolean;
  /** Whether the node that answers for a block's transactions lags one block behind. */
  isInfoBehind: boolean;
  /** The most results of `eth_getLogs`; it refuses to return more. */
  maxResults: number;
  /** The largest range of `eth_getLogs`: last block minus first. */
  maxRange: number;
  /** Rows per TronGrid page, whatever limit is requested. */
  pageRows: number;
  /** Transactions, `0x...`, whose value is an amount of a TRC-10 token. */
  readonly tokenTransfers: Set<string>;
  /** Requested paths, with the methods of `/jsonrpc`, since last cleared. */
  readonly asked: string[];
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** The answers to all requests during a fault. */
const FAULTS: Readonly<Record<NonNullable<Fault>, Answer>> = {
  throttled: {
    status: 200,
    body: { Error: "class java.lang.IllegalAccessException : lack of computing resources" },
  },
  suspended: refused(403, "The key exceeds the frequency limit(15), and the query server is suspended for 30s"),
  forbidden: { status: 403, body: { Error: "Exceed the user daily usage or wrong key" } },
};

/** A refusal in TronGrid's form. */
function refused(status: number, error: string): Answer {
  return { status, body: { success: false, error, statusCode: status } };
}

/** `solidLag`: how many blocks the solidified block is behind the tip. */
export async function startTron(rpc: Rpc, { solidLag = 19 } = {}): Promise<TronStandIn> {
  const state: Omit<TronStandIn, "url" | "close"> = {
    fault: null,
    isBlind: false,
    behind: 0,
    hasWallet: true,
    keepsInternal: true,
    isInfoBehind: false,
    maxResults: 10_000,
    maxRange: 5_000,
    pageRows: 200,
    tokenTransfers: new Set<string>(),
    asked: [],
  };
  const chain = new TronChain(rpc, state, solidLag);
  const jsonRpc = new TronJsonRpc(chain, state);
  const wallet = new TronWalletApi(chain, state);
  const lists = new TronAccountLists(chain, state);

  async function answer(request: IncomingMessage): Promise<Answer> {
    const text = await textOf(request);
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://tron");
    if (pathname !== "/jsonrpc") state.asked.push(pathname);
    if (state.fault !== null) return FAULTS[state.fault];
    const body: unknown = text === "" ? {} : JSON.parse(text);
    if (pathname === "/jsonrpc") return { status: 200, body: await jsonRpc.answer(body) };
    const account = /^\/v1\/accounts\/([^/]+)\/transactions(\/trc20)?$/.exec(pathname);
    if (account !== null) {
      const page = await lists.page(account[1] ?? "", account[2] !== undefined, searchParams);
      return page === null ? refused(400, "A valid account address is required.") : { status: 200, body: page };
    }
    const found = await wallet.answer(pathname, body);
    return found === undefined ? { status: 404, body: { error: "not found" } } : { status: 200, body: found };
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body } = await answer(request);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.writeHead(500).end(JSON.stringify({ Error: `class java.lang.Exception : ${String(error)}` }));
    });
  });
  const { origin, close } = await listen(server);
  return Object.assign(state, { url: origin, close });
}
