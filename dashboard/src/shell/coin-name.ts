import { TEST_NETWORK_NAMES } from "../../../src/chains/registry/test-network-names.ts";

/** `USDT on ETH`, `USDC on Ethereum Sepolia testnet`; a main network's own coin only has its code. */
export function coinName(coin: string, network: string): string {
  return coin === network ? coin : `${coin} on ${networkName(network)}`;
}

/** Main networks have the codes of the API, test networks the names that payers see. */
export function networkName(network: string): string {
  return new Map<string, string>(Object.entries(TEST_NETWORK_NAMES)).get(network) ?? network;
}

/** Whether its coins are worth nothing. */
export function isTestNetwork(network: string): boolean {
  return Object.hasOwn(TEST_NETWORK_NAMES, network);
}
