/** `USDT on ETH`, `USDC on ETH Sepolia`; the network's own coin has its name alone. */
export function coinName(coin: string, network: string): string {
  return coin === network ? coin : `${coin} on ${networkName(network)}`;
}

/** Test networks are named after the real one and the name that they are known by. */
export function networkName(network: string): string {
  return network.replace(/_([A-Z])([A-Z]*)/, (_, first: string, rest: string) => ` ${first}${rest.toLowerCase()}`);
}
