// Greenfield's names of payment methods: BTC-CHAIN is a network's own coin, USDT-TRX a token on a network. Plugins make names of classes of them.

export interface NamedPair {
  readonly cryptocurrency: string;
  readonly network: string;
}

export function paymentMethodId({ cryptocurrency, network }: NamedPair): string {
  return cryptocurrency === network ? `${cryptocurrency}-CHAIN` : `${cryptocurrency}-${network}`;
}

/** The pair of an id; also of the older form of a coin alone. What it names may not exist: the create refuses that. */
export function pairNamed(id: string): NamedPair {
  const at = id.indexOf("-");
  const [cryptocurrency, network] = at === -1 ? [id, ""] : [id.slice(0, at), id.slice(at + 1)];
  const isOwnCoin = ["", "CHAIN", "ONCHAIN"].includes(network.toUpperCase());
  return { cryptocurrency, network: isOwnCoin ? cryptocurrency : network };
}
