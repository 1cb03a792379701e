// A transfer as the chain shows it. Its identity is (network, txHash, outputIndex), the same however often it is mined again.

/** A block, with what distinguishes it from another of the same height. */
export interface BlockRef {
  readonly height: number;
  /** As the source writes it, lower case. */
  readonly hash: string;
  /** The block's own timestamp. */
  readonly timeMs: number;
}

export interface Transfer {
  /** Asset code on the network that was scanned; a contract that is not on the allow-list makes no transfer. */
  readonly cryptocurrency: string;
  /** Growth of a balance has no transaction to name: "block:" and the height. */
  readonly txHash: string;
  /**
   * UTXO: the output's number. Token: the log's ordinal within its receipt, from 0. Native: "native"; TRX that a contract sent: "internal:" and
   * the ordinal of the internal transaction. Growth of a balance: "balance:", the recipient, ":" and the units.
   */
  readonly outputIndex: string;
  /** Null where a chain has none (UTXO). */
  readonly fromAddress: string | null;
  /** In the spelling that wallets are stored in. */
  readonly toAddress: string;
  /** Above zero. */
  readonly amountUnits: bigint;
  /** Null in a mempool. */
  readonly block: BlockRef | null;
  /** UTXO in a mempool: outputs that it spends, `txid:vout`; else empty. */
  readonly spends: readonly string[];
  /** The source's own words, JSON as text, at most 4 KB. */
  readonly raw: string;
  /** The source cannot tell what a transaction really moved: never credited by a rule, always for review. */
  readonly isUnexplained?: true;
  /** Set where a balance grew in one block by more than the block's own transactions paid. */
  readonly growth?: Growth;
}

export interface Growth {
  /** `explainerMark` of each transaction of the block whose value was taken off before. */
  readonly explainedBy: readonly string[];
}

/** The start of a transaction's hash: enough to tell it from the others of its block, and short enough to keep. */
export function explainerMark(txHash: string): string {
  return txHash.slice(0, 12);
}

/**
 * The identity of growth: network, height and account, so that it is the same money if another block of that height has it. Also the units,
 * because a block that replaces another may bring a different sum, and that is another payment.
 */
export function growthIdentity(of: { readonly height: number; readonly toAddress: string; readonly units: bigint }) {
  return { txHash: `block:${of.height}`, outputIndex: `balance:${of.toAddress}:${of.units}` } as const;
}

/** The height in the name of growth; undefined for the hash of a transaction. */
export function growthHeight(txHash: string): number | undefined {
  const digits = /^block:(\d{1,15})$/.exec(txHash)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** `txHash:outputIndex`: the identity within a network, as a key. */
export function transferKey(of: Pick<Transfer, "txHash" | "outputIndex">): string {
  return `${of.txHash}:${of.outputIndex}`;
}
