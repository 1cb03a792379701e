// The JSON-RPC of a Bitcoin node for a chain that exists only here: blocks are created when the drill requests them, with the given payments.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { networkNamed } from "../../src/chains/registry/networks.ts";

/** A payment to an address, in satoshis. */
interface Sent {
  readonly address: string;
  readonly units: bigint;
}

interface Transaction extends Sent {
  readonly txid: string;
}

interface Block {
  readonly hash: string;
  readonly seconds: number;
  readonly transactions: readonly Transaction[];
}

export interface DrillChain {
  readonly url: string;
  readonly height: number;
  /** Makes one block with these payments, at the current time. */
  mine(sent?: readonly Sent[]): void;
  stop(): Promise<void>;
}

/** Blocks before the first payment, ten minutes apart. */
const OLD_BLOCKS = 40;
const BLOCK_SECONDS = 600;
const COIN = 100_000_000n;

export async function startChain(): Promise<DrillChain> {
  const genesis = networkNamed("BTC")?.genesisHash;
  if (genesis === null || genesis === undefined) throw new Error("Bitcoin has a first block");
  const startSeconds = now() - OLD_BLOCKS * BLOCK_SECONDS;
  const blocks: Block[] = [{ hash: genesis, seconds: startSeconds, transactions: [] }];
  const add = (seconds: number, sent: readonly Sent[]) => {
    const height = blocks.length;
    const transactions = sent.map((each, n) => ({ ...each, txid: hashOf(`${height} ${n} ${each.address}`) }));
    blocks.push({ hash: hashOf(`block ${height}`), seconds, transactions });
  };
  for (let n = 1; n < OLD_BLOCKS; n++) add(startSeconds + n * BLOCK_SECONDS, []);
  const server = createServer(async (request, response) => {
    const text = answer(blocks, JSON.parse(await textOf(request)));
    response.writeHead(200, { "content-type": "application/json" }).end(text);
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    get height() {
      return blocks.length - 1;
    },
    mine: (sent = []) => add(now(), sent),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

function answer(blocks: readonly Block[], calls: Call | readonly Call[]): string {
  const one = ({ id, method, params }: Call) => {
    const result = resultOf(blocks, method, params);
    const missing = '"error":{"code":-5,"message":"not found"}';
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${result === undefined ? missing : `"result":${result}`}}`;
  };
  return "method" in calls ? one(calls) : `[${calls.map(one).join(",")}]`;
}

/** A method's result as JSON text, because the exact text of an amount matters. */
function resultOf(blocks: readonly Block[], method: string, [first]: readonly unknown[]): string | undefined {
  const tip = blocks.length - 1;
  const at = blocks.findIndex(({ hash }) => hash === first);
  switch (method) {
    case "getbestblockhash":
      return JSON.stringify(blocks[tip]?.hash);
    case "getblockhash":
      return JSON.stringify(blocks[Number(first)]?.hash);
    case "getblockheader":
      return blockText(blocks, at, []);
    case "getblock":
      return blockText(blocks, at, blocks[at]?.transactions ?? []);
    case "getrawmempool":
      return "[]";
    default: {
      const mined = blocks.flatMap(({ hash, transactions }) => transactions.map((each) => ({ ...each, hash })));
      const found = method === "getrawtransaction" ? mined.find(({ txid }) => txid === first) : undefined;
      return found && `{${transactionMembers(found)},"blockhash":"${found.hash}"}`;
    }
  }
}

function blockText(blocks: readonly Block[], at: number, transactions: readonly Transaction[]): string | undefined {
  const block = blocks[at];
  if (block === undefined) return undefined;
  const previous = at === 0 ? "" : `"previousblockhash":"${blocks[at - 1]?.hash}",`;
  const texts = transactions.map((each) => `{${transactionMembers(each)}}`);
  return `{"hash":"${block.hash}","height":${at},"time":${block.seconds},"confirmations":${blocks.length - at},${previous}"tx":[${texts.join(",")}]}`;
}

function transactionMembers({ txid, address, units }: Transaction): string {
  const value = `${units / COIN}.${(units % COIN).toString().padStart(8, "0")}`;
  const script = `{"type":"witness_v0_keyhash","address":"${address}"}`;
  return `"txid":"${txid}","vin":[],"vout":[{"n":0,"value":${value},"scriptPubKey":${script}}]`;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function now(): number {
  return Math.floor(Date.now() / 1_000);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Listens on a free loopback port. */
function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address === null || typeof address === "string") reject(new Error("the chain listens nowhere"));
      else resolve(address.port);
    });
  });
}
