// A real bitcoind or litecoind in regtest for tests: on a free port of loopback, in its own directory, with a funded wallet. The product itself
// uses no node wallet. Nothing leaves the machine.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { findFreePort } from "../../scripts/free-port.ts";
import { firstProgram } from "../../scripts/program.ts";

export type Coin = "bitcoin" | "litecoin";

/** Calls the node; throws CoreRpcError on a refusal. Amounts are sent as text, because JSON's numbers are floats. */
type CoreRpc = <T = unknown>(method: string, ...params: readonly unknown[]) => Promise<T>;

/** A method with its parameters. */
type CoreCall = readonly [method: string, ...params: readonly unknown[]];

/** Makes several calls in order, all in one request; after all calls, throws the first refusal. */
type CoreBatch = (calls: readonly CoreCall[]) => Promise<void>;

export class CoreRpcError extends Error {
  readonly code: number;
  constructor(method: string, { code, message }: { readonly code: number; readonly message: string }) {
    super(`${method}: ${message} (${code})`);
    this.code = code;
  }
}

export interface CoreNode {
  readonly coin: Coin;
  /** The chain's name in CHAIN_SOURCES. */
  readonly network: "BTC_REGTEST" | "LTC_REGTEST";
  /** The URL with user and password, as CHAIN_SOURCES expects. */
  readonly url: string;
  readonly pid: number;
  readonly rpc: CoreRpc;
  /** Calls a wallet in the node; `payer` has ten outputs of 50 coins, other wallets are created empty on first use. */
  readonly wallet: (name?: string) => CoreRpc;
  /** Mines on the best chain, to unused addresses, and returns the blocks' hashes in order. */
  mine(blocks?: number): Promise<readonly string[]>;
  /**
   * Pays from `payer`, all outputs in one replaceable transaction: `{ [address]: "0.1" }`; returns its txid. The transaction is then in the mempool.
   */
  pay(outputs: Readonly<Record<string, string>>): Promise<string>;
  /** Sends the same payment at a higher fee (RBF), which replaces it in the mempool; returns the new txid. */
  replace(txid: string): Promise<string>;
  /** Double-spends an unconfirmed payment back to `payer` at a higher fee, so it never confirms; returns the new txid. */
  doubleSpend(txid: string): Promise<string>;
  /** Makes the mempool drop its transactions, as a node does after two weeks; a transaction from `payer` to itself takes their place. */
  evict(): Promise<void>;
  /** Disconnects the newest blocks: their transactions return to the mempool. Mine more blocks than before to continue. */
  undo(blocks: number): Promise<void>;
  /**
   * Disconnects the newest blocks and drops their transactions from the mempool, in one request, so nobody reads the mempool in between if
   * the node has one request thread (`-rpcthreads=1`).
   */
  undoAndEvict(blocks: number): Promise<void>;
  /** Ends the node's process and removes its directory; may be called twice. */
  stop(): Promise<void>;
}

interface CoreNodeOptions {
  /** More arguments for the daemon. */
  readonly args?: readonly string[];
  /** Whether the node finds any transaction by txid (`-txindex`); default true. */
  readonly hasTxIndex?: boolean;
  /** Whether to start with coins; if false, the chain is empty and there is no wallet. */
  readonly hasCoins?: boolean;
}

const DAEMONS = {
  bitcoin: {
    network: "BTC_REGTEST",
    setting: "BITCOIND",
    places: ["bitcoind", resolve(import.meta.dirname, "../../.nodes/bitcoind/bitcoind.sh")],
    // Tests do not need a durable wallet. Without sync a block takes 1 ms instead of 50.
    args: ["-unsafesqlitesync"],
  },
  litecoin: {
    network: "LTC_REGTEST",
    setting: "LITECOIND",
    places: ["litecoind", resolve(import.meta.dirname, "../../.nodes/litecoind/litecoind.sh")],
    // By default the node does not replace transactions in its mempool.
    args: ["-mempoolreplacement=1", "-keypool=20"],
  },
} as const satisfies Record<Coin, unknown>;

/** Two weeks (`-mempoolexpiry`) and an hour. */
const EXPIRY_SECONDS = 337 * 3_600;

/** Core's RPC_VERIFY_ALREADY_IN_UTXO_SET. */
const ALREADY_MINED = -27;

const USER = "edgetill";
const PAYER = "payer";
const START_MS = 30_000;
/** How long the node may take to stop. It need not finish its pending writes, because its directory is deleted. */
const STOP_MS = 1_000;

/**
 * The daemon's program, or undefined if none is installed: BITCOIND or LITECOIND, else the PATH, else this repository's `.nodes`.
 */
function daemonOf(coin: Coin): string | undefined {
  const { setting, places } = DAEMONS[coin];
  const named = process.env[setting];
  return firstProgram(named, places);
}

export function isInstalled(coin: Coin): boolean {
  return daemonOf(coin) !== undefined;
}

/** How to install the node if it is missing. */
export function howToInstall(coin: Coin): string {
  return `no ${coin}d here: npm run nodes:install brings it, or ${DAEMONS[coin].setting} may name one`;
}

/** Starts a node and waits until it responds. If it is not installed, throws with instructions. */
export async function startCoreNode(coin: Coin, options: CoreNodeOptions = {}): Promise<CoreNode> {
  const program = daemonOf(coin);
  if (program === undefined) throw new Error(howToInstall(coin));
  // Another process may take the port before the daemon listens on it.
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(coin, program, options);
    } catch (error) {
      if (attempt === 3 || !(error instanceof DaemonEnded)) throw error;
    }
  }
}

class DaemonEnded extends Error {}

async function startOnce(coin: Coin, program: string, options: CoreNodeOptions): Promise<CoreNode> {
  const { hasTxIndex = true, hasCoins = true } = options;
  const { network, args } = DAEMONS[coin];
  const directory = mkdtempSync(join(tmpdir(), `edgetill-${coin}-`));
  const port = await findFreePort();
  const password = randomBytes(12).toString("hex");
  const given = [
    "-chain=regtest",
    `-datadir=${directory}`,
    "-server",
    "-daemon=0",
    "-printtoconsole=0",
    "-listen=0",
    "-connect=0",
    "-dnsseed=0",
    "-discover=0",
    "-rpcbind=127.0.0.1",
    "-rpcallowip=127.0.0.1",
    `-rpcport=${port}`,
    `-rpcuser=${USER}`,
    `-rpcpassword=${password}`,
    "-fallbackfee=0.0002",
    "-walletrbf=1",
    "-addresstype=bech32",
    `-txindex=${hasTxIndex ? 1 : 0}`,
    ...args,
    ...(options.args ?? []),
  ];
  const daemon = spawn(program, given, { stdio: ["ignore", "ignore", "pipe"] });
  const said: string[] = [];
  daemon.stderr.on("data", (chunk) => said.push(String(chunk)));
  const calls = (path: string) => rpcAt(`http://127.0.0.1:${port}${path}`, password);
  const batch = batchAt(`http://127.0.0.1:${port}/wallet/${PAYER}`, password);
  const rpc = calls("/");
  const stop = stopper(daemon, rpc, directory);
  try {
    await untilReady(daemon, rpc, () => said.join(""));
    const node = nodeOf({ coin, network, url: `http://${USER}:${password}@127.0.0.1:${port}`, rpc, calls, batch });
    const started: CoreNode = { ...node, pid: daemon.pid ?? 0, stop };
    if (hasCoins) {
      await started.wallet()("getwalletinfo");
      // A wallet may set a lock time up to 99 blocks back, and Bitcoin Knots refuses a transaction whose lock time happens to be 21.
      await started.mine(122);
    }
    return started;
  } catch (error) {
    await stop();
    throw error;
  }
}

function nodeOf(
  of: Pick<CoreNode, "coin" | "network" | "url" | "rpc"> & {
    readonly calls: (path: string) => CoreRpc;
    readonly batch: CoreBatch;
  },
) {
  const { rpc, batch } = of;
  const wallet = walletsOf(rpc, of.calls);
  // A fresh address each time: a block mined again within the same second would be identical to the disconnected one.
  const freshAddress = () => wallet()<string>("getnewaddress");
  const evicting = async (): Promise<readonly CoreCall[]> => [
    ["setmocktime", Math.floor(Date.now() / 1000) + EXPIRY_SECONDS],
    // The mempool evicts old transactions only when a new one arrives.
    ["sendtoaddress", await freshAddress(), "0.01"],
    ["setmocktime", 0],
  ];
  const undoing = async (blocks: number): Promise<CoreCall> => {
    const tip = await rpc<number>("getblockcount");
    return ["invalidateblock", await rpc("getblockhash", tip - blocks + 1)];
  };
  /** A wallet keeps transactions that its own mempool rejects. When they are sent again, the node accepts them or reports why it does not. */
  async function sentAgain(txid: string): Promise<string> {
    const { hex } = await wallet()<{ readonly hex: string }>("gettransaction", txid);
    try {
      return await rpc<string>("sendrawtransaction", hex);
    } catch (error) {
      if (error instanceof CoreRpcError && error.code === ALREADY_MINED) return txid;
      throw error;
    }
  }
  return {
    coin: of.coin,
    network: of.network,
    url: of.url,
    rpc,
    wallet,
    doubleSpend: async (txid: string) => spentBack(rpc, wallet(), { txid, to: await freshAddress() }),
    mine: async (blocks = 1) => rpc<string[]>("generatetoaddress", blocks, await freshAddress()),
    pay: async (outputs: Readonly<Record<string, string>>) =>
      sentAgain(await wallet()<string>("sendmany", "", outputs)),
    replace: async (txid: string) => {
      const { txid: second } = await wallet()<{ readonly txid: string }>("bumpfee", txid);
      return sentAgain(second);
    },
    evict: async () => batch(await evicting()),
    undo: async (blocks: number) => batch([await undoing(blocks)]),
    undoAndEvict: async (blocks: number) => batch([await undoing(blocks), ...(await evicting())]),
  };
}

/** Each wallet is created on first use. */
function walletsOf(rpc: CoreRpc, calls: (path: string) => CoreRpc): CoreNode["wallet"] {
  const made = new Map<string, Promise<unknown>>();
  return (name = PAYER) => {
    const call = calls(`/wallet/${encodeURIComponent(name)}`);
    return async (method, ...params) => {
      const creation = made.get(name) ?? rpc("createwallet", name);
      made.set(name, creation);
      await creation;
      return call(method, ...params);
    };
  };
}

/** Spends an unconfirmed payment's inputs to another address at a higher fee; returns the new txid. */
async function spentBack(
  rpc: CoreRpc,
  wallet: CoreRpc,
  { txid, to }: { readonly txid: string; readonly to: string },
): Promise<string> {
  const before = await rpc<RawTransaction>("getrawtransaction", txid, true);
  const inputs = before.vin.map(({ txid: of, vout }) => ({ txid: of, vout, sequence: 0xfffffffd }));
  const spent = await Promise.all(before.vin.map((input) => valueSpent(rpc, wallet, input)));
  const left = spent.reduce((sum, value) => sum + value, 0) - 0.01;
  const raw = await rpc<string>("createrawtransaction", inputs, [{ [to]: left.toFixed(8) }]);
  const { hex } = await wallet<{ readonly hex: string }>("signrawtransactionwithwallet", raw);
  return rpc<string>("sendrawtransaction", hex, 0);
}

interface RawTransaction {
  readonly vin: readonly { readonly txid: string; readonly vout: number }[];
  readonly vout: readonly { readonly value: number }[];
}

/** The value that an input spends. Asks the wallet, which knows its own coins, because a node without a transaction index does not. */
async function valueSpent(rpc: CoreRpc, wallet: CoreRpc, { txid, vout }: RawTransaction["vin"][number]) {
  const { hex } = await wallet<{ readonly hex: string }>("gettransaction", txid);
  const spent = await rpc<RawTransaction>("decoderawtransaction", hex);
  return spent.vout[vout]?.value ?? 0;
}

function rpcAt(url: string, password: string): CoreRpc {
  return async (method, ...params) => {
    const { result, error } = JSON.parse(await sent(url, password, { id: 0, method, params }));
    if (error) throw new CoreRpcError(method, error);
    return result;
  };
}

function batchAt(url: string, password: string): CoreBatch {
  return async (calls) => {
    const asked = calls.map(([method, ...params], id) => ({ id, method, params }));
    for (const { id, error } of JSON.parse(await sent(url, password, asked))) {
      if (error) throw new CoreRpcError(asked[id]?.method ?? "", error);
    }
  };
}

async function sent(url: string, password: string, body: object): Promise<string> {
  const authorization = `Basic ${btoa(`${USER}:${password}`)}`;
  const response = await fetch(url, { method: "POST", headers: { authorization }, body: JSON.stringify(body) });
  return response.text();
}

/** A node that is warming up refuses every call. */
async function untilReady(daemon: ChildProcess, rpc: CoreRpc, said: () => string): Promise<void> {
  const endMs = Date.now() + START_MS;
  for (;;) {
    if (daemon.exitCode !== null || daemon.pid === undefined) throw new DaemonEnded(`the daemon ended: ${said()}`);
    try {
      await rpc("getblockcount");
      return;
    } catch (error) {
      if (Date.now() > endMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

function stopper(daemon: ChildProcess, rpc: CoreRpc, directory: string): () => Promise<void> {
  const ended = new Promise<void>((resolve) => {
    daemon.once("exit", () => resolve());
    daemon.once("error", () => resolve());
  });
  const kill = () => daemon.kill("SIGKILL");
  process.once("exit", kill);
  return async () => {
    const timer = setTimeout(kill, STOP_MS);
    // Stops it over RPC first, because a wrapper that only starts the daemon would not forward a signal.
    await rpc("stop").catch(() => undefined);
    await ended;
    clearTimeout(timer);
    process.removeListener("exit", kill);
    rmSync(directory, { recursive: true, force: true });
  };
}
