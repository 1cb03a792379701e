// A transfer as the chain tells it (chains.md 2). Its identity is (network, txHash, outputIndex), the same however often it is mined again.

/** A block by all that tells it from another of its height. */
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
  readonly txHash: string;
  /** UTXO: the output's number. Token: the log's ordinal within its receipt, from 0. Native: "native". Unexplained: "balance:" and the recipient. */
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
  /** A balance that grew and no transaction explains it: never credited by a rule, always for review. */
  readonly isUnexplained?: true;
}

/** `txHash:outputIndex`: the identity within a network, as a key. */
export function transferKey(of: Pick<Transfer, "txHash" | "outputIndex">): string {
  return `${of.txHash}:${of.outputIndex}`;
}
