// The Esplora HTTP API over a real bitcoind or litecoind: it reads the node before each answer, so it follows reorgs, replacements and
// evictions. Tests switch faults on and off.
import { createServer, type ServerResponse } from "node:http";
import type { CoreNode } from "./core-node.ts";
import { EsploraIndex, type Transaction } from "./esplora-index.ts";
import { listen } from "./listen.ts";

/** `429` comes with Retry-After, `html` is a page with status 200, `truncated` sends half of the answer, `hang` never answers. */
export type EsploraFault = "429" | "502" | "html" | "truncated" | "hang";

export interface EsploraStandIn {
  /** The URL for CHAIN_SOURCES. */
  readonly url: string;
  fault: EsploraFault | null;
  /** The paths that fail, such as `/address/...`; by default all. */
  failsAt: (path: string) => boolean;
  /** How many blocks the stand-in lags behind the node; transactions in those blocks are still in its mempool. */
  behind: number;
  /** Requested paths since last cleared; the length counts requests. */
  readonly asked: string[];
  /** The most concurrent requests so far. */
  readonly mostAtOnce: number;
  close(): Promise<void>;
}

/** The body: text, or JSON with status 200. */
type Answer = { readonly status: number; readonly text: string } | { readonly json: unknown };

const CONFIRMED_PAGE = 25;
const UNCONFIRMED_PAGE = 50;
const text = (value: string | number): Answer => ({ status: 200, text: String(value) });
const json = (value: unknown): Answer => ({ json: value });
const missing = (what: string): Answer => ({ status: 404, text: `${what} not found` });

export async function startEsplora(node: Pick<CoreNode, "rpc">): Promise<EsploraStandIn> {
  const index = new EsploraIndex(node);
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
  const answers = new Answers(index, it);

  async function answer(path: string, response: ServerResponse): Promise<void> {
    const fault = it.fault !== null && it.failsAt(path) ? it.fault : null;
    if (fault === "hang") return;
    if (fault === "429") return end(response, { status: 429, type: "text/plain", body: "Too Many Requests" });
    if (fault === "502") return end(response, { status: 502, type: "text/html", body: "<html>Bad gateway</html>" });
    if (fault === "html") return end(response, { status: 200, type: "text/html", body: "<html>Maintenance</html>" });
    await index.refresh();
    const given = answers.to(path);
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

/** Answers requests as of the newest block that the stand-in shows. */
class Answers {
  readonly #index: EsploraIndex;
  readonly #lag: { readonly behind: number };
  readonly #routes: readonly (readonly [RegExp, (match: RegExpExecArray) => Answer])[] = [
    [/^\/blocks\/tip\/height$/, () => text(this.#tip)],
    [/^\/blocks\/tip\/hash$/, () => text(this.#index.chain[this.#tip]?.hash ?? "")],
    [/^\/block-height\/(\d+)$/, ([, height]) => this.#blockHash(Number(height))],
    [/^\/block\/([0-9a-f]{64})$/, ([, hash]) => this.#block(hash)],
    [
      /^\/block\/([0-9a-f]{64})\/status$/,
      ([, hash]) => json({ in_best_chain: this.#index.chain.some((of) => of.hash === hash) }),
    ],
    [/^\/tx\/([0-9a-f]{64})$/, ([, txid = ""]) => this.#transaction(txid)],
    [/^\/tx\/([0-9a-f]{64})\/outspend\/(\d+)$/, ([, txid, vout]) => this.#outspend(`${txid}:${vout}`)],
    [/^\/address\/(\w+)\/txs$/, ([, address = ""]) => this.#history(address, undefined)],
    [/^\/address\/(\w+)\/txs\/chain\/([0-9a-f]{64})$/, ([, address = "", after]) => this.#history(address, after)],
  ];

  /** `lag.behind` is read for each answer: the number of blocks by which the stand-in lags the index. */
  constructor(index: EsploraIndex, lag: { readonly behind: number }) {
    this.#index = index;
    this.#lag = lag;
  }

  to(path: string): Answer {
    const route = this.#routes
      .map(([shape, give]) => ({ match: shape.exec(path), give }))
      .find(({ match }) => match !== null);
    return route?.match ? route.give(route.match) : missing("Path");
  }

  get #tip(): number {
    return this.#index.chain.length - 1 - this.#lag.behind;
  }

  #blockHash(height: number): Answer {
    const block = height > this.#tip ? undefined : this.#index.chain[height];
    return block === undefined ? missing("Block") : text(block.hash);
  }

  #block(hash: string | undefined): Answer {
    const block = this.#index.chain.slice(0, this.#tip + 1).find((each) => each.hash === hash);
    if (block === undefined) return missing("Block");
    const { height, time: timestamp, mediantime, previousblockhash, txids } = block;
    return json({ id: hash, height, timestamp, mediantime, previousblockhash, tx_count: txids.length });
  }

  #transaction(txid: string): Answer {
    const transaction = this.#index.transactions.get(txid) ?? this.#index.left.get(txid);
    return transaction === undefined ? missing("Transaction") : json(this.#shown(transaction));
  }

  #outspend(output: string): Answer {
    const txid = this.#index.spenders.get(output);
    const spender = txid === undefined ? undefined : this.#index.transactions.get(txid);
    if (spender === undefined) return json({ spent: false });
    const vin = spender.vin.findIndex((input) => `${input.txid}:${input.vout}` === output);
    return json({ spent: true, txid, vin, status: this.#statusOf(spender.txid) });
  }

  /** An unknown `after` gives an empty page, as Esplora does. */
  #history(address: string, after: string | undefined): Answer {
    const touching = [...this.#index.transactions.values()].filter((of) => touches(of, address));
    const unconfirmed = touching.filter(({ txid }) => this.#heightOf(txid) === undefined);
    const confirmed = touching
      .filter(({ txid }) => this.#heightOf(txid) !== undefined)
      .sort((one, other) => (this.#heightOf(other.txid) ?? 0) - (this.#heightOf(one.txid) ?? 0));
    if (after === undefined) {
      const page = [...unconfirmed.slice(0, UNCONFIRMED_PAGE), ...confirmed.slice(0, CONFIRMED_PAGE)];
      return json(page.map((of) => this.#shown(of)));
    }
    const from = confirmed.findIndex(({ txid }) => txid === after) + 1;
    return json(from === 0 ? [] : confirmed.slice(from, from + CONFIRMED_PAGE).map((of) => this.#shown(of)));
  }

  #heightOf(txid: string): number | undefined {
    const height = this.#index.heights.get(txid);
    return height === undefined || height > this.#tip ? undefined : height;
  }

  #statusOf(txid: string) {
    const block = this.#index.chain[this.#heightOf(txid) ?? -1];
    if (block === undefined) return { confirmed: false };
    return { confirmed: true, block_height: block.height, block_hash: block.hash, block_time: block.time };
  }

  #shown(of: Transaction) {
    const isCoinbase = of.vin[0]?.is_coinbase === true;
    const paid = of.vin.reduce((sum, { prevout }) => sum + (prevout?.value ?? 0), 0);
    const fee = isCoinbase ? 0 : paid - of.vout.reduce((sum, { value }) => sum + value, 0);
    return { ...of, fee, status: this.#statusOf(of.txid) };
  }
}

function touches({ vin, vout }: Transaction, address: string): boolean {
  const touched = [...vout, ...vin.flatMap(({ prevout }) => (prevout === null ? [] : [prevout]))];
  return touched.some((output) => output.scriptpubkey_address === address);
}
