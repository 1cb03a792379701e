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
  /** Other accepted names, upper case. */
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
   * How transfers of the native coin are found. `blocks`: by every transaction, on EVM also by the recipients' balances. `balances`: by the
   * balances, and by transactions only in blocks where a balance moved. `logs`: by Polygon's LogTransfer, which includes transfers by
   * contracts; then no balance is watched, or money would count twice.
   */
  readonly nativeBy: "blocks" | "logs" | "balances";
  /** Time between two passes while something is watched. */
  readonly pollSeconds: number;
  /** True for regtest as well: test key prefixes, coin type 1. */
  readonly isTest: boolean;
  /** Usable only if the deployment configures a node for it. */
  readonly isRegtest: boolean;
  /** SLIP-44 coin type of extended keys: 0, 2, and 1 on test networks; null if no extended key is accepted. */
  readonly coinType: number | null;
  /** Scheme of a payment URI: BIP21, EIP-681 and TRON's. */
  readonly uriScheme: "bitcoin" | "litecoin" | "ethereum" | "tron";
  /** Average, for estimates only. */
  readonly blockSeconds: number;
  /** How deep a reorg is still looked for, in blocks; a finalized block ends the search earlier. */
  readonly reorgWindowBlocks: number;
  /** Blocks that each pass reads again. */
  readonly overlapBlocks: number;
  /** A wallet with fewer required confirmations gets a warning; the default stays 1. */
  readonly recommendedConfirmations: number;
}
