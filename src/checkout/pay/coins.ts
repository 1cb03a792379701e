// Names for payers: the names of coins, and the names of networks that exchanges and wallets use.
import type { NetworkName } from "../../chains/registry/networks.ts";

const COIN_NAMES: Readonly<Record<string, string>> = {
  BTC: "Bitcoin",
  LTC: "Litecoin",
  ETH: "Ether",
  POL: "Polygon",
  BNB: "BNB",
  CRO: "Cronos",
  TRX: "TRON",
  USDT: "Tether USD",
  USDC: "USD Coin",
  DAI: "Dai",
  WBTC: "Wrapped Bitcoin",
  EURC: "Euro Coin",
  PYUSD: "PayPal USD",
  UNI: "Uniswap",
  SHIB: "Shiba Inu",
};

export function coinName(code: string): string {
  return COIN_NAMES[code] ?? code;
}

/** What exchanges call a network's tokens in their withdrawal forms. Networks without an entry have no such name. */
const TOKEN_STANDARDS: Partial<Record<NetworkName, string>> = {
  ETH: "ERC-20",
  ETH_SEPOLIA: "ERC-20",
  BNB: "BEP-20",
  BNB_TESTNET: "BEP-20",
  TRX: "TRC-20",
  TRX_NILE: "TRC-20",
};

export function tokenStandard(network: NetworkName): string | undefined {
  return TOKEN_STANDARDS[network];
}
