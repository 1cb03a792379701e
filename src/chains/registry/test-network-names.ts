// Display names of networks whose coins have no value, for the table, the console and payers' pages. Each says that it is a test network. They are in
// a separate file because the console's first page needs the names but not the whole table.
import type { NetworkName } from "./network.ts";

export const TEST_NETWORK_NAMES = {
  BTC_TESTNET: "Bitcoin testnet",
  LTC_TESTNET: "Litecoin testnet",
  ETH_SEPOLIA: "Ethereum Sepolia testnet",
  POL_AMOY: "Polygon Amoy testnet",
  BNB_TESTNET: "BNB Smart Chain testnet",
  CRO_TESTNET: "Cronos testnet",
  TRX_NILE: "TRON Nile testnet",
  BASE_SEPOLIA: "Base Sepolia testnet",
  ARBITRUM_SEPOLIA: "Arbitrum Sepolia testnet",
  OPTIMISM_SEPOLIA: "Optimism Sepolia testnet",
  BTC_REGTEST: "Bitcoin regtest",
  LTC_REGTEST: "Litecoin regtest",
} as const satisfies Partial<Record<NetworkName, string>>;
