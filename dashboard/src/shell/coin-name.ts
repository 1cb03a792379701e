import { TEST_NETWORK_NAMES } from "../../../src/chains/registry/test-network-names.ts";

/** `USDT on ETH`, `USDC on Ethereum Sepolia testnet`; only the code if the coin has the same code as its main network. */
export function coinName(coin: string, network: string): string {
  return coin === network ? coin : `${coin} on ${networkName(network)}`;
}

/** For a main network, its code in the API; for a test network, the name that payers see. */
export function networkName(network: string): string {
  return new Map<string, string>(Object.entries(TEST_NETWORK_NAMES)).get(network) ?? network;
}

/** Whether the network's coins are worth nothing. */
export function isTestNetwork(network: string): boolean {
  return Object.hasOwn(TEST_NETWORK_NAMES, network);
}
