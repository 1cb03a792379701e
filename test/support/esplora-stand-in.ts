// The Esplora HTTP API over a real bitcoind or litecoind: it reads the node before each answer, so it follows reorgs, replacements and evictions
// as they happen. Faults are switched from outside.
import { createServer, type ServerResponse } from "node:http";
import { type CoreNode, CoreRpcError } from "./core-node.ts";
import { listen } from "./listen.ts";

/** `429` comes with Retry-After, `html` is a page with status 200, `truncated` the first half of the answer, `hang` no answer at all. */
export type EsploraFault = "429" | "502" | "html" | "truncated" | "hang";

export interface EsploraStandIn {
  /** As CHAIN_SOURCES takes it. */
  readonly url: string;
  fault: EsploraFault | null;
  /** Which paths the fault is at, `/address/...`; all unless said otherwise. */
  failsAt: (path: string) => boolean;
  /** How many blocks it is behind the node; what is in those is in its mempool still. */
  behind: number;
  /** Paths asked for since it was emptied last; its length counts requests. */
  readonly asked: string[];
  /** As many requests as were ever under way at once. */
  readonly mostAtOnce: number;
  close(): Promise<void>;
}

interface CoreOutput {
  /** Absent inside MWEB. */
  readonly value?: number;
  readonly scriptPubKey?: { readonly hex: string; readonly asm: string; readonly type: string } & CoreAddress;
}
interface CoreAddress {
  readonly address?: string;
  /** Before Core 22. */
  readonly addresses?: readonly string[];
}
interface CoreTransaction {
  readonly txid: string;
  readonly version: number;
  readonly locktime: number;
  readonly size: number;
  readonly weight: number;
  readonly vin: readonly {
    /** Absent in a coinbase and inside MWEB. */
    readonly txid?: string;
    readonly vout?: number;
    readonly coinbase?: string;
    readonly scriptSig?: { readonly hex: string };
    readonly sequence?: number;
    readonly txinwitness?: readonly string[];
  }[];
  readonly vout: readonly CoreOutput[];
}
interface CoreBlock {
  readonly hash: string;
  readonly height: number;
  readonly time: number;
  readonly mediantime: number;
  readonly previousblockhash?: string;
  readonly tx: readonly CoreTransaction[];
}

interface Output {
  readonly scriptpubkey: string;
  readonly scriptpubkey_asm: string;
  readonly scriptpubkey_type: string;
  readonly scriptpubkey_address?: string;
  readonly value: number;
}
interface Input {
  readonly txid: string;
  readonly vout: number;
  readonly is_coinbase: boolean;
  readonly scriptsig: string;
  readonly sequence: number;
  readonly witness?: readonly string[];
  readonly prevout: Output | null;
}
interface Transaction {
  readonly txid: string;
  readonly version: number;
  readonly locktime: number;
  readonly size: number;
  readonly weight: number;
  readonly vin: readonly Input[];
  readonly vout: readonly Output[];
}
interface Block extends Omit<CoreBlock, "tx"> {
  readonly txids: readonly string[];
}

/** Text, or JSON with status 200. */
type Answer = { readonly status: number; readonly text: string } | { readonly json: unknown };

const CONFIRMED_PAGE = 25;
const UNCONFIRMED_PAGE = 50;
const text = (value: string | number): Answer => ({ status: 200, text: String(value) });
const json = (value: unknown): Answer => ({ json: value });
const missing = (what: string): Answer => ({ status: 404, text: `${what} not found` });

export async function startEsplora(node: Pick<CoreNode, "rpc">): Promise<EsploraStandIn> {
  const index = new Index(node);
  const server = createServer();
  const { origin, close } = await listen(server);
  let underWay = 0;
  let mostAtOnce = 0;
  const it: EsploraStandIn = {
    url: `${origin}/api`,
    fault: null,
    failsAt: () => true,
    behind: 0,
    asked: [],
    get mostAtOnce() {
      return mostAtOnce;
    },
    close,
  };

  const ROUTES: readonly (readonly [RegExp, (match: RegExpExecArray) => Answer])[] = [
    [/^\/blocks\/tip\/height$/, () => text(tip())],
    [/^\/blocks\/tip\/hash$/, () => text(index.chain[tip()]?.hash ?? "")],
    [/^\/block-height\/(\d+)$/, ([, height]) => blockHash(Number(height))],
    [/^\/block\/([0-9a-f]{64})$/, ([, hash]) => blockOf(hash)],
    [
      /^\/block\/([0-9a-f]{64})\/status$/,
      ([, hash]) => json({ in_best_chain: index.chain.some((of) => of.hash === hash) }),
    ],
    [/^\/tx\/([0-9a-f]{64})$/, ([, txid = ""]) => transactionOf(txid)],
    [/^\/tx\/([0-9a-f]{64})\/outspend\/(\d+)$/, ([, txid, vout]) => outspend(`${txid}:${vout}`)],
    [/^\/address\/(\w+)\/txs$/, ([, address = ""]) => history(address, undefined)],
    [/^\/address\/(\w+)\/txs\/chain\/([0-9a-f]{64})$/, ([, address = "", after]) => history(address, after)],
  ];
  const tip = () => index.chain.length - 1 - it.behind;

  function blockHash(height: number): Answer {
    const block = height > tip() ? undefined : index.chain[height];
    return block === undefined ? missing("Block") : text(block.hash);
  }

  function blockOf(hash: string | undefined): Answer {
    const block = index.chain.slice(0, tip() + 1).find((each) => each.hash === hash);
    if (block === undefined) return missing("Block");
    const { height, time: timestamp, mediantime, previousblockhash, txids } = block;
    return json({ id: hash, height, timestamp, mediantime, previousblockhash, tx_count: txids.length });
  }

  function transactionOf(txid: string): Answer {
    const transaction = index.transactions.get(txid);
    return transaction === undefined ? missing("Transaction") : json(shown(transaction));
  }

  function outspend(output: string): Answer {
    const txid = index.spenders.get(output);
    const spender = txid === undefined ? undefined : index.transactions.get(txid);
    if (spender === undefined) return json({ spent: false });
    const vin = spender.vin.findIndex((input) => `${input.txid}:${input.vout}` === output);
    return json({ spent: true, txid, vin, status: statusOf(spender.txid) });
  }

  /** An unknown `after` has nothing behind it, as with the real one. */
  function history(address: string, after: string | undefined): Answer {
    const touching = [...index.transactions.values()].filter((of) => touches(of, address));
    const unconfirmed = touching.filter(({ txid }) => heightOf(txid) === undefined);
    const confirmed = touching
      .filter(({ txid }) => heightOf(txid) !== undefined)
      .sort((one, other) => (heightOf(other.txid) ?? 0) - (heightOf(one.txid) ?? 0));
    if (after === undefined) {
      const page = [...unconfirmed.slice(0, UNCONFIRMED_PAGE), ...confirmed.slice(0, CONFIRMED_PAGE)];
      return json(page.map(shown));
    }
    const from = confirmed.findIndex(({ txid }) => txid === after) + 1;
    return json(from === 0 ? [] : confirmed.slice(from, from + CONFIRMED_PAGE).map(shown));
  }

  function heightOf(txid: string): number | undefined {
    const height = index.heights.get(txid);
    return height === undefined || height > tip() ? undefined : height;
  }

  function statusOf(txid: string) {
    const block = index.chain[heightOf(txid) ?? -1];
    if (block === undefined) return { confirmed: false };
    return { confirmed: true, block_height: block.height, block_hash: block.hash, block_time: block.time };
  }

  function shown(of: Transaction) {
    const isCoinbase = of.vin[0]?.is_coinbase === true;
    const paid = of.vin.reduce((sum, { prevout }) => sum + (prevout?.value ?? 0), 0);
    const fee = isCoinbase ? 0 : paid - of.vout.reduce((sum, { value }) => sum + value, 0);
    return { ...of, fee, status: statusOf(of.txid) };
  }

  async function answer(path: string, response: ServerResponse): Promise<void> {
    const fault = it.fault !== null && it.failsAt(path) ? it.fault : null;
    if (fault === "hang") return;
    if (fault === "429") return end(response, { status: 429, type: "text/plain", body: "Too Many Requests" });
    if (fault === "502") return end(response, { status: 502, type: "text/html", body: "<html>Bad gateway</html>" });
    if (fault === "html") return end(response, { status: 200, type: "text/html", body: "<html>Maintenance</html>" });
    await index.refresh();
    const route = ROUTES.map(([shape, give]) => ({ match: shape.exec(path), give })).find(
      ({ match }) => match !== null,
    );
    const given = route?.match ? route.give(route.match) : missing("Path");
    const isText = "text" in given;
    const body = isText ? given.text : JSON.stringify(given.json);
    end(response, {
      status: isText ? given.status : 200,
      type: isText ? "text/plain" : "application/json",
      body: fault === "truncated" ? body.slice(0, Math.ceil(body.length / 2)) : body,
    });
  }

  server.on("request", async (request, response) => {
    const path = new URL(request.url ?? "/", origin).pathname.replace(/^\/api/, "");
    it.asked.push(path);
    underWay++;
    mostAtOnce = Math.max(mostAtOnce, underWay);
    response.once("close", () => underWay--);
    try {
      await answer(path, response);
    } catch (error) {
      end(response, { status: 500, type: "text/plain", body: String(error) });
    }
  });
  return it;
}

function end(response: ServerResponse, of: { readonly status: number; readonly type: string; readonly body: string }) {
  response.writeHead(of.status, { "content-type": of.type, ...(of.status === 429 ? { "retry-after": "3" } : {}) });
  response.end(of.body);
}

/** All transactions of the node's best chain and mempool. */
class Index {
  /** By height. */
  readonly chain: Block[] = [];
  /** By txid, in the order in which they were seen. */
  readonly transactions = new Map<string, Transaction>();
  /** Of those in blocks. */
  readonly heights = new Map<string, number>();
  /** `txid:vout` to the txid of what spends it. */
  readonly spenders = new Map<string, string>();
  readonly #node: Pick<CoreNode, "rpc">;
  #refreshing: Promise<void> | undefined;

  constructor(node: Pick<CoreNode, "rpc">) {
    this.#node = node;
  }

  /** Up to what the node has now; calls at once share one look. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refresh(): Promise<void> {
    const { rpc } = this.#node;
    const height = await rpc<number>("getblockcount");
    while (!(await this.#isOnChain(height))) this.#dropTip();
    while (this.chain.length <= height) {
      const hash = await rpc<string>("getblockhash", this.chain.length);
      const { tx, ...block } = await rpc<CoreBlock>("getblock", hash, 2);
      for (const each of tx) {
        this.#forget(each.txid);
        this.#learn(each);
        this.heights.set(each.txid, block.height);
      }
      this.chain.push({ ...block, txids: tx.map(({ txid }) => txid) });
    }
    const mempool = new Set(await rpc<string[]>("getrawmempool"));
    for (const txid of this.transactions.keys()) {
      if (!mempool.has(txid) && !this.heights.has(txid)) this.#forget(txid);
    }
    for (const txid of mempool) {
      const added = this.transactions.has(txid)
        ? undefined
        : await rpc<CoreTransaction>("getrawtransaction", txid, true).catch(noneIfGone);
      if (added !== undefined) this.#learn(added);
    }
  }

  async #isOnChain(height: number): Promise<boolean> {
    const tip = this.chain.at(-1);
    if (tip === undefined) return true;
    return tip.height <= height && (await this.#node.rpc("getblockhash", tip.height)) === tip.hash;
  }

  #dropTip(): void {
    for (const txid of this.chain.pop()?.txids ?? []) this.#forget(txid);
  }

  #learn(of: CoreTransaction): void {
    const vin = of.vin.filter(({ txid, coinbase }) => txid !== undefined || coinbase !== undefined);
    const { txid, version, locktime, size, weight } = of;
    const inputs = vin.map((input) => this.#input(input));
    const vout = of.vout.flatMap((output) => outputOf(output));
    this.transactions.set(txid, { txid, version, locktime, size, weight, vin: inputs, vout });
    for (const input of inputs) this.spenders.set(`${input.txid}:${input.vout}`, txid);
  }

  #forget(txid: string): void {
    for (const { txid: of, vout } of this.transactions.get(txid)?.vin ?? []) {
      if (this.spenders.get(`${of}:${vout}`) === txid) this.spenders.delete(`${of}:${vout}`);
    }
    this.transactions.delete(txid);
    this.heights.delete(txid);
  }

  #input(of: CoreTransaction["vin"][number]): Input {
    const { txid = "0".repeat(64), vout = 0xffffffff, sequence = 0, coinbase } = of;
    const prevout = this.transactions.get(txid)?.vout[vout] ?? null;
    const scriptsig = of.scriptSig?.hex ?? coinbase ?? "";
    const witness = of.txinwitness === undefined ? {} : { witness: of.txinwitness };
    return { txid, vout, is_coinbase: coinbase !== undefined, scriptsig, sequence, ...witness, prevout };
  }
}

/** One that leaves the mempool meanwhile is none; another failure is the node's. */
function noneIfGone(error: unknown): undefined {
  if (!(error instanceof CoreRpcError)) throw error;
}

const TYPES: Readonly<Record<string, string>> = {
  pubkeyhash: "p2pkh",
  scripthash: "p2sh",
  witness_v0_keyhash: "v0_p2wpkh",
  witness_v0_scripthash: "v0_p2wsh",
  witness_v1_taproot: "v1_p2tr",
  nulldata: "op_return",
};

/** None inside MWEB. */
function outputOf({ value, scriptPubKey: script }: CoreOutput): readonly Output[] {
  if (value === undefined || script === undefined) return [];
  const address = script.address ?? script.addresses?.[0];
  return [
    {
      scriptpubkey: script.hex,
      scriptpubkey_asm: script.asm,
      scriptpubkey_type: TYPES[script.type] ?? "unknown",
      ...(address === undefined ? {} : { scriptpubkey_address: address }),
      // Of eight digits, so a whole number after rounding.
      value: Math.round(value * 1e8),
    },
  ];
}

function touches({ vin, vout }: Transaction, address: string): boolean {
  const touched = [...vout, ...vin.flatMap(({ prevout }) => (prevout === null ? [] : [prevout]))];
  return touched.some((output) => output.scriptpubkey_address === address);
}
