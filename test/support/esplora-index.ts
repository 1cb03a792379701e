// Esplora's index, built from a real bitcoind or litecoind: transactions by id, their blocks, and which transaction spends each output.
import { type CoreNode, CoreRpcError } from "./core-node.ts";

interface CoreOutput {
  /** Absent inside MWEB. */
  readonly value?: number;
  readonly scriptPubKey?: { readonly hex: string; readonly asm: string; readonly type: string } & CoreAddress;
}
interface CoreAddress {
  readonly address?: string;
  /** Used before Core 22. */
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
export interface Transaction {
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

/** All transactions of the node's best chain and mempool. */
export class EsploraIndex {
  /** By height. */
  readonly chain: Block[] = [];
  /** By txid, in the order they were seen. */
  readonly transactions = new Map<string, Transaction>();
  /**
   * Transactions of blocks that have left the chain, by txid. A lookup still finds them, as unconfirmed, even if no mempool has them. The history of
   * an address and the spender of an output do not show them.
   */
  readonly left = new Map<string, Transaction>();
  /** The height of each transaction that is in a block, by txid. */
  readonly heights = new Map<string, number>();
  /** From `txid:vout` to the txid that spends it. */
  readonly spenders = new Map<string, string>();
  readonly #node: Pick<CoreNode, "rpc">;
  #refreshing: Promise<void> | undefined;

  constructor(node: Pick<CoreNode, "rpc">) {
    this.#node = node;
  }

  /** Updates to the node's current state; concurrent calls share one update. */
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
    for (const txid of this.chain.pop()?.txids ?? []) {
      const transaction = this.transactions.get(txid);
      if (transaction !== undefined) this.left.set(txid, transaction);
      this.#forget(txid);
    }
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

/** A transaction may leave the mempool meanwhile, and is then skipped; any other failure is the node's. */
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

/** MWEB transactions show no outputs. */
function outputOf({ value, scriptPubKey: script }: CoreOutput): readonly Output[] {
  if (value === undefined || script === undefined) return [];
  const address = script.address ?? script.addresses?.[0];
  return [
    {
      scriptpubkey: script.hex,
      scriptpubkey_asm: script.asm,
      scriptpubkey_type: TYPES[script.type] ?? "unknown",
      ...(address === undefined ? {} : { scriptpubkey_address: address }),
      // Amounts have eight decimal places, so rounding gives a whole number.
      value: Math.round(value * 1e8),
    },
  ];
}
