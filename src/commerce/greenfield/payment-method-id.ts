// Greenfield's names for payment methods: BTC-CHAIN is a network's own coin, USDT-TRX a token on a network. Plugins build class names from them.

export interface NamedPair {
  readonly cryptocurrency: string;
  readonly network: string;
}

export function paymentMethodId({ cryptocurrency, network }: NamedPair): string {
  return cryptocurrency === network ? `${cryptocurrency}-CHAIN` : `${cryptocurrency}-${network}`;
}

/** The pair that an id names, also in the older form with only a coin. The pair may not exist: our create route then refuses it. */
export function pairNamed(id: string): NamedPair {
  const at = id.indexOf("-");
  const [cryptocurrency, network] = at === -1 ? [id, ""] : [id.slice(0, at), id.slice(at + 1)];
  const isOwnCoin = ["", "CHAIN", "ONCHAIN"].includes(network.toUpperCase());
  return { cryptocurrency, network: isOwnCoin ? cryptocurrency : network };
}
