// The registry: every network, asset and contract that Edgetill knows, as one frozen table (decisions 2; chains.md 3, 4, 5). Tokens are an
// allow-list: what is not here never credits. Decimals belong to (network, contract): USDT and USDC have 18 on BNB and 6 elsewhere.

import { type Asset, BNB, BTC, CRO, ETH, LTC, POL, TRX, token } from "./assets.ts";

export type { Asset } from "./assets.ts";

export type Family = "bitcoin" | "evm" | "tron";

export type NetworkName =
  | "BTC"
  | "LTC"
  | "ETH"
  | "POL"
  | "BNB"
  | "CRO"
  | "TRX"
  | "BTC_TESTNET"
  | "LTC_TESTNET"
  | "ETH_SEPOLIA"
  | "POL_AMOY"
  | "BNB_TESTNET"
  | "CRO_TESTNET"
  | "TRX_NILE"
  | "BTC_REGTEST"
  | "LTC_REGTEST";

/** Prefixes of a Bitcoin-like chain: version bytes of base58check, human-readable parts of bech32 (chains.md 5). */
export interface UtxoParameters {
  readonly p2pkh: number;
  readonly p2sh: number;
  readonly hrp: string;
}

export interface Network {
  /** The canonical name, always echoed. */
  readonly name: NetworkName;
  /** Other names it is accepted under, upper case. */
  readonly aliases: readonly string[];
  readonly family: Family;
  /** For people, in messages and on the payment page. */
  readonly displayName: string;
  readonly nativeCode: string;
  /** The native coin first. */
  readonly assets: readonly Asset[];
  /** EIP-155 id (`eth_chainId`, for TRON of java-tron's JSON-RPC); null on Bitcoin-like chains. */
  readonly chainId: number | null;
  readonly utxo: UtxoParameters | null;
  /** True for regtest as well: test key prefixes, coin type 1. */
  readonly isTest: boolean;
  /** Usable only where a deployment configures a node for it. */
  readonly isRegtest: boolean;
  /** SLIP-44 coin type of extended keys: 0, 2, and 1 on test networks; null where none is accepted. */
  readonly coinType: number | null;
  /** Scheme of a payment URI: BIP21, EIP-681 and TRON's. */
  readonly uriScheme: "bitcoin" | "litecoin" | "ethereum" | "tron";
  /** Average, for estimates only. */
  readonly blockSeconds: number;
  /** How deep a reorg is still looked for, in blocks; where the chain tells what is final, that ends it earlier. */
  readonly reorgWindowBlocks: number;
  /** Blocks that each pass over the chain reads again (chains.md 1, provider rule d). */
  readonly overlapBlocks: number;
  /** A wallet with fewer gets a warning; the default stays 1. */
  readonly recommendedConfirmations: number;
}

/** What the networks of one chain have in common (chains.md 3; overlaps: chains.md 1). */
const BITCOIN = {
  family: "bitcoin",
  nativeCode: "BTC",
  chainId: null,
  uriScheme: "bitcoin",
  blockSeconds: 600,
  reorgWindowBlocks: 6,
  overlapBlocks: 6,
  recommendedConfirmations: 3,
} as const;
const LITECOIN = {
  ...BITCOIN,
  nativeCode: "LTC",
  uriScheme: "litecoin",
  blockSeconds: 150,
  reorgWindowBlocks: 12,
  overlapBlocks: 12,
  recommendedConfirmations: 6,
} as const;
const EVM = { family: "evm", uriScheme: "ethereum", utxo: null, coinType: null, isRegtest: false } as const;
/** 64 blocks are the two epochs, about 13 minutes, after which a block is `finalized`. */
const ETHEREUM = {
  ...EVM,
  nativeCode: "ETH",
  blockSeconds: 12,
  reorgWindowBlocks: 64,
  overlapBlocks: 64,
  recommendedConfirmations: 12,
} as const;
const POLYGON = { ...ETHEREUM, nativeCode: "POL", blockSeconds: 2 } as const;
const BNB_CHAIN = {
  ...EVM,
  nativeCode: "BNB",
  blockSeconds: 0.45,
  reorgWindowBlocks: 32,
  overlapBlocks: 32,
  recommendedConfirmations: 15,
} as const;
/** Cronos changed its pace more than once: 6 s is the slowest it was, so that a window in time errs on the long side. */
const CRONOS = {
  ...EVM,
  nativeCode: "CRO",
  blockSeconds: 6,
  reorgWindowBlocks: 5,
  overlapBlocks: 5,
  recommendedConfirmations: 2,
} as const;
/** About 19 blocks until a block is solidified. */
const TRON = {
  family: "tron",
  nativeCode: "TRX",
  uriScheme: "tron",
  utxo: null,
  coinType: null,
  isRegtest: false,
  blockSeconds: 3,
  reorgWindowBlocks: 19,
  overlapBlocks: 30,
  recommendedConfirmations: 19,
} as const;

const MAIN = { isTest: false, isRegtest: false, aliases: [] } as const;
const TEST = { isTest: true, isRegtest: false, aliases: [] } as const;
/** A chain of one's own: one block is as good as another. */
const REGTEST = { isTest: true, isRegtest: true, recommendedConfirmations: 1, aliases: [] } as const;

const TABLE: readonly Network[] = [
  {
    ...BITCOIN,
    ...MAIN,
    name: "BTC",
    aliases: ["BITCOIN"],
    displayName: "Bitcoin",
    coinType: 0,
    utxo: { p2pkh: 0x00, p2sh: 0x05, hrp: "bc" },
    assets: [BTC],
  },
  {
    ...LITECOIN,
    ...MAIN,
    name: "LTC",
    aliases: ["LITECOIN"],
    displayName: "Litecoin",
    coinType: 2,
    utxo: { p2pkh: 0x30, p2sh: 0x32, hrp: "ltc" },
    assets: [LTC],
  },
  {
    ...ETHEREUM,
    ...MAIN,
    name: "ETH",
    aliases: ["ETHEREUM"],
    displayName: "Ethereum",
    chainId: 1,
    assets: [
      ETH,
      token("USDT", 6, "0xdAC17F958D2ee523a2206206994597C13D831ec7"),
      token("USDC", 6, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"),
      token("DAI", 18, "0x6B175474E89094C44Da98b954EedeAC495271d0F"),
      token("WBTC", 8, "0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599"),
      token("EURC", 6, "0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c"),
    ],
  },
  {
    ...POLYGON,
    ...MAIN,
    name: "POL",
    aliases: ["POLYGON", "MATIC"],
    displayName: "Polygon",
    chainId: 137,
    assets: [
      POL,
      // Its symbol on chain is no longer USDT since it became USDT0: the contract is the identity, never the symbol.
      token("USDT", 6, "0xc2132D05D31c914a87C6611C10748AEb04B58e8F"),
      token("USDC", 6, "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"),
      token("DAI", 18, "0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063"),
      token("WBTC", 8, "0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6"),
    ],
  },
  {
    ...BNB_CHAIN,
    ...MAIN,
    name: "BNB",
    aliases: ["BSC"],
    displayName: "BNB Smart Chain",
    chainId: 56,
    assets: [
      BNB,
      token("USDT", 18, "0x55d398326f99059fF775485246999027B3197955"),
      token("USDC", 18, "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d"),
      token("DAI", 18, "0x1AF3F329e8BE154074D8769D1FFa4eE058B1DBc3"),
    ],
  },
  {
    ...CRONOS,
    ...MAIN,
    name: "CRO",
    aliases: ["CRONOS"],
    displayName: "Cronos",
    chainId: 25,
    assets: [
      CRO,
      token("USDT", 6, "0x66e428c3f67a68878562e79A0234c1F83c208770"),
      // Circle's own since 2026. The older 0xc212... that many lists still call USDC is the bridged USDC.e.
      token("USDC", 6, "0x3D7F2C478aAfdB65542BCB44bCeeC05849999d2D"),
      token("DAI", 18, "0xF2001B145b43032AAF5Ee2884e456CCd805F677D"),
      token("WBTC", 8, "0x062E66477Faf219F25D27dCED647BF57C3107d52"),
      token("EURC", 6, "0xA6dE01a2d62C6B5f3525d768f34d276652C554c8"),
    ],
  },
  {
    ...TRON,
    ...MAIN,
    name: "TRX",
    aliases: ["TRON"],
    displayName: "TRON",
    chainId: 728_126_428,
    assets: [TRX, token("USDT", 6, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t")],
  },
  {
    ...BITCOIN,
    ...TEST,
    name: "BTC_TESTNET",
    displayName: "Bitcoin testnet",
    coinType: 1,
    utxo: { p2pkh: 0x6f, p2sh: 0xc4, hrp: "tb" },
    assets: [BTC],
  },
  {
    ...LITECOIN,
    ...TEST,
    name: "LTC_TESTNET",
    displayName: "Litecoin testnet",
    coinType: 1,
    utxo: { p2pkh: 0x6f, p2sh: 0x3a, hrp: "tltc" },
    assets: [LTC],
  },
  {
    ...ETHEREUM,
    ...TEST,
    name: "ETH_SEPOLIA",
    displayName: "Ethereum Sepolia",
    chainId: 11_155_111,
    assets: [
      ETH,
      token("USDC", 6, "0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238"),
      token("EURC", 6, "0x08210F9170F89Ab7658F0B5E3fF39b0E03C594D4"),
    ],
  },
  {
    ...POLYGON,
    ...TEST,
    name: "POL_AMOY",
    aliases: ["POLYGON_AMOY"],
    displayName: "Polygon Amoy",
    chainId: 80_002,
    assets: [POL, token("USDC", 6, "0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582")],
  },
  {
    ...BNB_CHAIN,
    ...TEST,
    name: "BNB_TESTNET",
    aliases: ["BSC_TESTNET"],
    displayName: "BNB Smart Chain testnet",
    chainId: 97,
    assets: [BNB],
  },
  {
    ...CRONOS,
    ...TEST,
    name: "CRO_TESTNET",
    aliases: ["CRONOS_TESTNET"],
    displayName: "Cronos testnet",
    chainId: 338,
    assets: [
      CRO,
      token("USDC", 6, "0xEb33dc5fac03833e132593659e1dE7256aB59794"),
      token("EURC", 6, "0x31f7538adb53cF16350e6B0c89d03D91b7D12c46"),
    ],
  },
  {
    ...TRON,
    ...TEST,
    name: "TRX_NILE",
    aliases: ["TRON_NILE"],
    displayName: "TRON Nile",
    chainId: 3_448_148_188,
    assets: [TRX],
  },
  {
    ...BITCOIN,
    ...REGTEST,
    name: "BTC_REGTEST",
    displayName: "Bitcoin regtest",
    coinType: 1,
    utxo: { p2pkh: 0x6f, p2sh: 0xc4, hrp: "bcrt" },
    assets: [BTC],
  },
  {
    ...LITECOIN,
    ...REGTEST,
    name: "LTC_REGTEST",
    displayName: "Litecoin regtest",
    coinType: 1,
    utxo: { p2pkh: 0x6f, p2sh: 0x3a, hrp: "rltc" },
    assets: [LTC],
  },
];

/** Every network, main networks first. */
export const NETWORKS: readonly Network[] = Object.freeze(
  TABLE.map((network) =>
    Object.freeze({
      ...network,
      aliases: Object.freeze(network.aliases),
      assets: Object.freeze(network.assets),
      utxo: network.utxo === null ? null : Object.freeze(network.utxo),
    }),
  ),
);

/** Every asset code once: the crypto codes that an invoice may also be priced in (decisions 4). */
export const CRYPTO_CODES: readonly string[] = Object.freeze([
  ...new Set(NETWORKS.flatMap((network) => network.assets.map((asset) => asset.code))),
]);

/** ASCII only, because upper-casing turns letters such as the dotless i into ASCII ones. */
const NAME = /^[A-Za-z_]{1,32}$/;

/** The network of a canonical name or an alias, in any case. */
export function networkNamed(text: string): Network | undefined {
  if (!NAME.test(text)) return undefined;
  const name = text.toUpperCase();
  return NETWORKS.find((network) => network.name === name || network.aliases.includes(name));
}

/** The asset of a code, in any case, on a network; undefined when the pair is not supported. */
export function assetOn(network: Network, code: string): Asset | undefined {
  if (!NAME.test(code)) return undefined;
  const wanted = code.toUpperCase();
  return network.assets.find((asset) => asset.code === wanted);
}
