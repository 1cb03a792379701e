import type { Wallet } from "../../../../src/commerce/wallet-records/wallet.ts";

/** A direct wallet for BTC with three confirmations, enabled, with an empty HMAC. */
export const DIRECT_WALLET: Wallet = {
  id: "wal_01M7Y116S5004EM2R6G33SCWPC",
  merchantId: "mer_01M7Y116S5004EM2R6G33SCWPC",
  walletType: "DIRECT_WALLET",
  cryptocurrency: "BTC",
  network: "BTC",
  address: "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
  xpub: null,
  derivationPath: null,
  scheme: null,
  keyHash: null,
  requiredConfirmations: 3,
  isEnabled: true,
  lastUsedIndex: null,
  nextIndex: null,
  gap: null,
  mac: "",
  macKeyId: "",
  frozenAtMs: null,
  usableFromMs: 0,
  createdAtMs: 0,
  updatedAtMs: 0,
  deletedAtMs: null,
};
