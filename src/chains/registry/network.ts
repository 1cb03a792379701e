// The fields of a registry row: one row describes one network.
import type { Asset } from "./assets.ts";

export type Family = "bitcoin" | "evm" | "tron";

export type NetworkName =
  | "BTC"
  | "LTC"
  | "ETH"
  | "POL"
  | "BNB"
  | "CRO"
  | "TRX"
  | "BASE"
  | "ARBITRUM"
  | "OPTIMISM"
  | "BTC_TESTNET"
  | "LTC_TESTNET"
  | "ETH_SEPOLIA"
  | "POL_AMOY"
  | "BNB_TESTNET"
  | "CRO_TESTNET"
  | "TRX_NILE"
  | "BASE_SEPOLIA"
  | "ARBITRUM_SEPOLIA"
  | "OPTIMISM_SEPOLIA"
  | "BTC_REGTEST"
  | "LTC_REGTEST";

/** Prefixes of a Bitcoin-like chain: version bytes of base58check, human-readable parts of bech32. */
export interface UtxoParameters {
  readonly p2pkh: number;
  readonly p2sh: number;
  readonly hrp: string;
}

export interface Network {
  /** The canonical name, which the API always returns. */
  readonly name: NetworkName;
  /** Other accepted names, in upper case. */
  readonly aliases: readonly string[];
  readonly family: Family;
  /** For users, in messages and on the payment page. */
  readonly displayName: string;
  readonly nativeCode: string;
  /** The native coin first. */
  readonly assets: readonly Asset[];
  /** EIP-155 id (`eth_chainId`; on TRON that of java-tron's JSON-RPC); null on Bitcoin-like chains. */
  readonly chainId: number | null;
  readonly utxo: UtxoParameters | null;
  /** Hash of block 0, which proves that a source serves this chain; null if `chainId` proves it. */
  readonly genesisHash: string | null;
  /**
   * How transfers of the native coin are found. `blocks`: in every transaction of every block, on EVM also by the recipients' balances. `balances`:
   * by the balances; the blocks of a scan are searched for transactions only if money may have moved in them (balance-watch-client.ts). `logs`: in
   * Polygon's LogTransfer, which includes transfers by contracts; balances are not watched on such a network, because transfers would count twice.
   */
  readonly nativeBy: "blocks" | "logs" | "balances";
  /** Time between two passes while something is watched. */
  readonly pollSeconds: number;
  /** Also true for regtest, which uses the test networks' key prefixes and coin type. */
  readonly isTest: boolean;
  /** Usable only if the deployment configures a node for it. */
  readonly isRegtest: boolean;
  /** SLIP-44 coin type of extended keys: 0 for Bitcoin, 2 for Litecoin, 1 on test networks; null if no extended key is accepted. */
  readonly coinType: number | null;
  readonly uriScheme: "bitcoin" | "litecoin" | "ethereum" | "tron";
  /** Approximate time between blocks, for estimates only. */
  readonly blockSeconds: number;
  /** How many blocks back a reorg is still detected. The search ends earlier at a finalized block. */
  readonly reorgWindowBlocks: number;
  /** How many blocks each pass reads again. */
  readonly overlapBlocks: number;
  /** A wallet that requires fewer confirmations gets a warning. The default is 1 on every network. */
  readonly recommendedConfirmations: number;
}
