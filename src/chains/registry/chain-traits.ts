// What the networks of one chain share: its coin, its pace, how deep it can be reorganised, and how its coin is found. `network.ts` describes the fields.

export const BITCOIN = {
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
export const LITECOIN = {
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
export const ETHEREUM = {
  ...EVM,
  nativeCode: "ETH",
  nativeBy: "blocks",
  pollSeconds: 12,
  blockSeconds: 12,
  reorgWindowBlocks: 64,
  overlapBlocks: 64,
  recommendedConfirmations: 12,
} as const;
export const POLYGON = { ...ETHEREUM, nativeCode: "POL", nativeBy: "logs", pollSeconds: 6, blockSeconds: 2 } as const;
export const BNB_CHAIN = {
  ...EVM,
  nativeCode: "BNB",
  nativeBy: "balances",
  pollSeconds: 6,
  blockSeconds: 0.45,
  reorgWindowBlocks: 32,
  overlapBlocks: 32,
  recommendedConfirmations: 15,
} as const;
/** Cronos changed its block time more than once: 6 s is the slowest so far, so that a time window errs on the long side. */
export const CRONOS = {
  ...EVM,
  nativeCode: "CRO",
  nativeBy: "balances",
  pollSeconds: 6,
  blockSeconds: 6,
  reorgWindowBlocks: 5,
  overlapBlocks: 5,
  recommendedConfirmations: 2,
} as const;
/**
 * Rollups on Ethereum, with Ethereum's coin. A block is final once the Ethereum block with its batch is, about 20 minutes later; until then it rests on a
 * single sequencer. Depths are times converted to blocks, the same on each: 20 minutes, an overlap of 32 s (each pass reads all transfers of busy tokens in it
 * again) and 24 s of confirmations, as on Polygon.
 */
const ROLLUP = { ...EVM, nativeCode: "ETH", nativeBy: "balances", pollSeconds: 6 } as const;
export const OP_STACK = {
  ...ROLLUP,
  blockSeconds: 2,
  reorgWindowBlocks: 600,
  overlapBlocks: 16,
  recommendedConfirmations: 12,
} as const;
export const ARBITRUM_NITRO = {
  ...ROLLUP,
  blockSeconds: 0.25,
  reorgWindowBlocks: 4_800,
  overlapBlocks: 128,
  recommendedConfirmations: 96,
} as const;
/** About 19 blocks until a block is solidified. */
export const TRON = {
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

export const MAIN = { isTest: false, isRegtest: false, aliases: [] } as const;
export const TEST = { isTest: true, isRegtest: false, aliases: [] } as const;
/** A private test chain: one confirmation is enough. */
export const REGTEST = { isTest: true, isRegtest: true, recommendedConfirmations: 1, aliases: [] } as const;
