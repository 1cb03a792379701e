// Remembers which transactions of a node's mempool were read and approximately which addresses each pays: a mempool may hold 100,000 transactions,
// and a node has no index of addresses. It is a cache: when it is lost, all are read again, part by part (core-client.ts, `mempoolPart`). It needs
// about 16 bytes per output in the mempool.

/** 52 bits of a txid as a number: a map with 100,000 of these takes a few megabytes. */
const keyOf = (txid: string): number => Number.parseInt(txid.slice(0, 13), 16);

export class MempoolIndex {
  /** By `keyOf`: whether the transaction was read. */
  #known = new Map<number, boolean>();
  /** One entry for each output: the hash of the paid address, and the key of the transaction. */
  #hashes: number[] = [];
  #keys: number[] = [];

  /** Number of remembered outputs. */
  get size(): number {
    return this.#hashes.length;
  }

  /**
   * Takes the list of transactions in the current mempool and returns those that were not read yet: `fresh` are those new since the last call,
   * `waiting` all others; in the first call all are `waiting`. Transactions that have left the mempool are forgotten.
   */
  unseen(txids: readonly string[]): { readonly fresh: readonly string[]; readonly waiting: readonly string[] } {
    const isFirst = this.#known.size === 0;
    const fresh: string[] = [];
    const waiting: string[] = [];
    const known = new Map<number, boolean>();
    for (const txid of txids) {
      const key = keyOf(txid);
      const wasLooked = this.#known.get(key);
      known.set(key, wasLooked === true);
      if (wasLooked !== true) (wasLooked === undefined && !isFirst ? fresh : waiting).push(txid);
    }
    this.#known = known;
    const stays = this.#keys.map((key) => known.has(key));
    this.#hashes = this.#hashes.filter((_, place) => stays[place]);
    this.#keys = this.#keys.filter((_, place) => stays[place]);
    return { fresh, waiting };
  }

  /** Records that a transaction was read and which addresses it pays. May be repeated. */
  add(txid: string, addresses: readonly string[]): void {
    const key = keyOf(txid);
    if (this.#known.get(key) === true) return;
    this.#known.set(key, true);
    for (const address of addresses) {
      this.#hashes.push(hashOf(address));
      this.#keys.push(key);
    }
  }

  /** The `txids` that were read and may pay one of the recipients; false positives are rare. */
  paying(txids: readonly string[], recipients: ReadonlySet<string>): readonly string[] {
    const wanted = new Set<number>();
    for (const address of recipients) wanted.add(hashOf(address));
    const keys = new Set<number>();
    for (const [place, hash] of this.#hashes.entries()) {
      const key = this.#keys[place];
      if (key !== undefined && wanted.has(hash)) keys.add(key);
    }
    return txids.filter((txid) => keys.has(keyOf(txid)));
  }
}

/** FNV-1a, the upper 30 bits: a small integer. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let place = 0; place < text.length; place++) hash = Math.imul(hash ^ text.charCodeAt(place), 0x01000193);
  return hash >>> 2;
}
