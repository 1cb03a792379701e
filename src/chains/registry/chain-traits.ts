// What the networks of one chain have in common: the coin, the block time, how deep a reorg may be, and how transfers of the coin are found.
// `network.ts` describes the fields.

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
/** A block is `finalized` after two epochs, which are 64 blocks or about 13 minutes. */
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
/** Cronos has changed its block time more than once. This is the slowest so far, 6 s, so that a time window is never too short. */
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
 * Rollups on Ethereum, with Ethereum's coin. A block is final once the Ethereum block that contains its batch is final, about 20 minutes later; until
 * then it depends on a single sequencer. Depths are times converted to blocks, the same for each rollup: 20 minutes, an overlap of 32 s (each pass
 * reads all transfers of busy tokens in it again) and 24 s of confirmations, as on Polygon.
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
/** A block is solidified after about 19 more blocks. */
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
