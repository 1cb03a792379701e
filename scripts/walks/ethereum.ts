// A minimal Ethereum node for the walks: blocks at a fixed pace, with USDT payments in them.

const [GENESIS_MS, BLOCK_MS] = [1_790_000_000_000, 12_000];
const USDT = "0xdac17f958d2ee523a2206206994597c13d831ec7";
/** keccak-256 of `Transfer(address,address,uint256)`. */
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const PAYER = "52908400098527886e0f7030069857d2e4169ee7";

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly [unknown];
}

export class Ethereum {
  /** By height: the payment in a block, if any. */
  readonly #blocks: ({ readonly to: string; readonly units: bigint } | undefined)[] = [undefined];

  /** The time of the newest block. */
  get nowMs(): number {
    return GENESIS_MS + (this.#blocks.length - 1) * BLOCK_MS;
  }

  mine(payment?: { readonly to: string; readonly units: bigint }): void {
    this.#blocks.push(payment);
  }

  /** Answers one JSON-RPC request or a batch. */
  answer(body: string): unknown {
    const asked: Call | readonly Call[] = JSON.parse(body);
    const answerOne = ({ id, method, params: [first] }: Call) => ({
      jsonrpc: "2.0",
      id,
      result: this.#result(method, first),
    });
    return Array.isArray(asked) ? asked.map(answerOne) : answerOne(asked as Call);
  }

  #result(method: string, first: unknown): unknown {
    switch (method) {
      case "eth_chainId":
        return "0x1";
      case "eth_getBlockByNumber":
        return this.#block(heightOf(String(first), this.#blocks.length - 1));
      case "eth_getLogs":
        return this.#logs(first as { readonly fromBlock: string; readonly toBlock: string });
      case "eth_getTransactionReceipt":
        return this.#receipt(Number(String(first).slice(-8)));
      default:
        throw new Error(`the node does not know ${method}`);
    }
  }

  #block(height: number) {
    if (height >= this.#blocks.length) return null;
    const timestamp = hex((GENESIS_MS + height * BLOCK_MS) / 1_000);
    return { number: hex(height), hash: hashOf("b", height), parentHash: hashOf("b", height - 1), timestamp };
  }

  #logs({ fromBlock, toBlock }: { readonly fromBlock: string; readonly toBlock: string }) {
    return this.#blocks.flatMap((_, n) => (n < Number(fromBlock) || n > Number(toBlock) ? [] : this.#logsIn(n)));
  }

  #logsIn(height: number) {
    const payment = this.#blocks[height];
    if (payment === undefined) return [];
    const words = {
      address: USDT,
      topics: [TRANSFER, word(PAYER), word(payment.to.slice(2).toLowerCase())],
      data: word(payment.units.toString(16)),
      logIndex: "0x0",
    };
    return [{ ...words, ...placeOf(height) }];
  }

  #receipt(height: number) {
    return { ...placeOf(height), status: "0x1", logs: this.#logsIn(height), gasUsed: "0xb000" };
  }
}

const placeOf = (height: number) => ({
  blockNumber: hex(height),
  blockHash: hashOf("b", height),
  transactionHash: hashOf("a", height),
});

const hex = (value: number) => `0x${value.toString(16)}`;
const word = (digits: string) => `0x${digits.padStart(64, "0")}`;
/** The last digits of a hash are the height, in decimal. */
const hashOf = (kind: string, height: number) => `0x${String(height).padStart(8, "0").padStart(64, kind)}`;

function heightOf(tag: string, tip: number): number {
  if (tag === "finalized") return Math.max(0, tip - 64);
  return tag === "latest" ? tip : Number(tag);
}
