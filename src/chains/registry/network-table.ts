// Every chain that Edgetill knows, row by row (decisions 2). Tokens are an allow-list: a token that is not here is never credited. Decimals
// belong to (network, contract): USDT and USDC have 18 on BNB and 6 elsewhere. `network.ts` describes the fields.
import { BNB, BTC, CRO, ETH, LTC, POL, TRX, token } from "./assets.ts";
import type { Network } from "./network.ts";
import { TEST_NETWORK_NAMES } from "./test-network-names.ts";

/** The common fields of the networks of one chain. */
const BITCOIN = {
  family: "bitcoin",
  nativeCode: "BTC",
  chainId: null,
  nativeBy: "blocks",
  pollSeconds: 30,
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
  pollSeconds: 20,
  blockSeconds: 150,
  reorgWindowBlocks: 12,
  overlapBlocks: 12,
  recommendedConfirmations: 6,
} as const;
const EVM = {
  family: "evm",
  uriScheme: "ethereum",
  utxo: null,
  genesisHash: null,
  coinType: null,
  isRegtest: false,
} as const;
/** 64 blocks are the two epochs, about 13 minutes, after which a block is `finalized`. */
const ETHEREUM = {
  ...EVM,
  nativeCode: "ETH",
  nativeBy: "blocks",
  pollSeconds: 12,
  blockSeconds: 12,
  reorgWindowBlocks: 64,
  overlapBlocks: 64,
  recommendedConfirmations: 12,
} as const;
const POLYGON = { ...ETHEREUM, nativeCode: "POL", nativeBy: "logs", pollSeconds: 6, blockSeconds: 2 } as const;
const BNB_CHAIN = {
  ...EVM,
  nativeCode: "BNB",
  nativeBy: "balances",
  pollSeconds: 6,
  blockSeconds: 0.45,
  reorgWindowBlocks: 32,
  overlapBlocks: 32,
  recommendedConfirmations: 15,
} as const;
/** Cronos changed its block time more than once: 6 s is the slowest so far, so that a time window is rather too long. */
const CRONOS = {
  ...EVM,
  nativeCode: "CRO",
  nativeBy: "balances",
  pollSeconds: 6,
  blockSeconds: 6,
  reorgWindowBlocks: 5,
  overlapBlocks: 5,
  recommendedConfirmations: 2,
} as const;
/** About 19 blocks until a block is solidified. */
const TRON = {
  family: "tron",
  nativeCode: "TRX",
  nativeBy: "blocks",
  pollSeconds: 6,
  uriScheme: "tron",
  utxo: null,
  genesisHash: null,
  coinType: null,
  isRegtest: false,
  blockSeconds: 3,
  reorgWindowBlocks: 19,
  overlapBlocks: 30,
  recommendedConfirmations: 19,
} as const;

const MAIN = { isTest: false, isRegtest: false, aliases: [] } as const;
const TEST = { isTest: true, isRegtest: false, aliases: [] } as const;
/** A private test chain: one confirmation is enough. */
const REGTEST = { isTest: true, isRegtest: true, recommendedConfirmations: 1, aliases: [] } as const;

/** The rows of the registry, main networks first. */
export const NETWORK_TABLE: readonly Network[] = [
  {
    ...BITCOIN,
    ...MAIN,
    name: "BTC",
    genesisHash: "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f",
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
    genesisHash: "12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2",
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
      // github.com/paxosglobal/pyusd-contract, docs.uniswap.org (Governance) and, for SHIB, github.com/shibaone/shibaswap-v3-sdk.
      token("PYUSD", 6, "0x6c3ea9036406852006290770BEdFcAbA0e23A0e8"),
      token("UNI", 18, "0x1f9840a85d5aF5bf1D1762F925BDADdC4201F984"),
      token("SHIB", 18, "0x95aD61b0a150d79219dCF64E1E6Cc01f0B64C4cE"),
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
      // Its symbol on chain changed from USDT to USDT0: the contract is the identity, never the symbol.
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
    genesisHash: "000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943",
    displayName: TEST_NETWORK_NAMES.BTC_TESTNET,
    coinType: 1,
    utxo: { p2pkh: 0x6f, p2sh: 0xc4, hrp: "tb" },
    assets: [BTC],
  },
  {
    ...LITECOIN,
    ...TEST,
    name: "LTC_TESTNET",
    genesisHash: "4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0",
    displayName: TEST_NETWORK_NAMES.LTC_TESTNET,
    coinType: 1,
    utxo: { p2pkh: 0x6f, p2sh: 0x3a, hrp: "tltc" },
    assets: [LTC],
  },
  {
    ...ETHEREUM,
    ...TEST,
    name: "ETH_SEPOLIA",
    displayName: TEST_NETWORK_NAMES.ETH_SEPOLIA,
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
    displayName: TEST_NETWORK_NAMES.POL_AMOY,
    chainId: 80_002,
    assets: [POL, token("USDC", 6, "0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582")],
  },
  {
    ...BNB_CHAIN,
    ...TEST,
    name: "BNB_TESTNET",
    aliases: ["BSC_TESTNET"],
    displayName: TEST_NETWORK_NAMES.BNB_TESTNET,
    chainId: 97,
    assets: [BNB],
  },
  {
    ...CRONOS,
    ...TEST,
    name: "CRO_TESTNET",
    aliases: ["CRONOS_TESTNET"],
    displayName: TEST_NETWORK_NAMES.CRO_TESTNET,
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
    displayName: TEST_NETWORK_NAMES.TRX_NILE,
    chainId: 3_448_148_188,
    assets: [TRX],
  },
  {
    ...BITCOIN,
    ...REGTEST,
    name: "BTC_REGTEST",
    genesisHash: "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206",
    displayName: TEST_NETWORK_NAMES.BTC_REGTEST,
    coinType: 1,
    utxo: { p2pkh: 0x6f, p2sh: 0xc4, hrp: "bcrt" },
    assets: [BTC],
  },
  {
    ...LITECOIN,
    ...REGTEST,
    name: "LTC_REGTEST",
    genesisHash: "530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9",
    displayName: TEST_NETWORK_NAMES.LTC_REGTEST,
    coinType: 1,
    utxo: { p2pkh: 0x6f, p2sh: 0x3a, hrp: "rltc" },
    assets: [LTC],
  },
];
