// A transfer on chain. Its identity is (network, txHash, outputIndex), which stays the same when it is mined again. Its effect may differ: a contract
// may pay a different amount in another block, and a source may have lied.

/** A block, with its hash, because several blocks may have the same height. */
export interface BlockRef {
  readonly height: number;
  /** Lower case, as the source writes it. */
  readonly hash: string;
  /** The block's own timestamp. */
  readonly timeMs: number;
}

export interface Transfer {
  /** Asset code on the network that was scanned; a contract that is not on the allow-list makes no transfer. */
  readonly cryptocurrency: string;
  /** For growth of a balance, which has no transaction: "block:" and the height. */
  readonly txHash: string;
  /**
   * UTXO: the output's number. Token: the log's ordinal within its receipt, from 0. Native: "native"; TRX that a contract sent: "internal:" and
   * the ordinal of the internal transaction. Growth of a balance: "balance:", the recipient, ":" and the units.
   */
  readonly outputIndex: string;
  /** UTXO: null, or the recipient itself if the transaction also spends from it. */
  readonly fromAddress: string | null;
  /** In its stored form. */
  readonly toAddress: string;
  /** Above zero. */
  readonly amountUnits: bigint;
  /** Null if unconfirmed. */
  readonly block: BlockRef | null;
  /** For an unconfirmed UTXO transfer the outputs that it spends, `txid:vout`; otherwise empty. */
  readonly spends: readonly string[];
  /** The source's answer, JSON as text, at most 4 KB. */
  readonly raw: string;
  /** Set for a block's payment to its miner: the confirmations that consensus requires before it can be spent. */
  readonly leastConfirmations?: number;
  /** Set if the source cannot tell what the transaction really moved: no rule credits it, and a user reviews it. */
  readonly isUnexplained?: true;
  /** Set if a balance grew in one block by more than the block's transactions paid. */
  readonly growth?: Growth;
}

interface Growth {
  /** `explainerMark` of each transaction in the block whose value was already subtracted. */
  readonly explainedBy: readonly string[];
}

/** The start of a transaction hash: long enough to be unique in its block, short enough to store. */
export function explainerMark(txHash: string): string {
  return txHash.slice(0, 12);
}

/**
 * The identity of a balance's growth: network, height and account. So the payment stays the same if another block replaces the one at that height.
 * The units are included too, because growth by a different amount in the new block is a different payment.
 */
export function growthIdentity(of: { readonly height: number; readonly toAddress: string; readonly units: bigint }) {
  return { txHash: `block:${of.height}`, outputIndex: `balance:${of.toAddress}:${of.units}` } as const;
}

/** The height in the identifier of a balance's growth; undefined for a transaction hash. */
export function growthHeight(txHash: string): number | undefined {
  const digits = /^block:(\d{1,15})$/.exec(txHash)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Whether an address pays itself: change, or a transfer between one owner's accounts. It never counts as a payment. */
export function isToItself({ fromAddress, toAddress }: Pick<Transfer, "fromAddress" | "toAddress">): boolean {
  return fromAddress === toAddress;
}

/** `txHash:outputIndex`: the identity within a network, as a key. */
export function transferKey(of: Pick<Transfer, "txHash" | "outputIndex">): string {
  return `${of.txHash}:${of.outputIndex}`;
}

/** The effect of a transfer: coin, recipient and amount. At any time the chain has only one effect for an identity. */
type Effect = Pick<Transfer, "cryptocurrency" | "toAddress" | "amountUnits">;

export function isSameEffect(a: Effect, b: Effect): boolean {
  return a.cryptocurrency === b.cryptocurrency && a.toAddress === b.toAddress && a.amountUnits === b.amountUnits;
}

export function effectText({ cryptocurrency, toAddress, amountUnits }: Effect): string {
  return `${cryptocurrency} ${toAddress} ${amountUnits}`;
}

export function effectKey(of: Pick<Transfer, "txHash" | "outputIndex"> & Effect): string {
  return `${transferKey(of)} ${effectText(of)}`;
}
