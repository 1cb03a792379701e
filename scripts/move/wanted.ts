// The data that a move wants an Edgetill merchant to have, no matter which server it comes from.
import type * as Api from "../../client/edgetill.ts";

export interface Wanted {
  /** The source of the data, such as `the store "Coffee" (5ERa…)`. */
  readonly title: string;
  readonly wallets: readonly WantedWallet[];
  readonly webhooks: readonly Api.CreateWebhookBody[];
  readonly products: readonly Api.CreateProductBody[];
  readonly customers: readonly Api.UpsertCustomerBody[];
  readonly settings: WantedSettings;
  /** The data that is not moved, each with a reason. */
  readonly left: readonly string[];
  /** What the operator must know or do. */
  readonly notes: readonly string[];
}

export interface WantedWallet {
  readonly body: Api.RegisterWalletBody;
  /** Equal for the same key or address on the same network, however it is spelled. */
  readonly identity: string;
  /** The first addresses that the wallet must show; empty for a single address. */
  readonly addresses: readonly string[];
}

export interface WantedSettings {
  readonly invoiceLifetimeSeconds?: number;
  readonly underpaidTolerancePercent?: number;
  /** Shown to customers; set only if the merchant has no brand name. */
  readonly brandName?: string;
  readonly formerStoreId?: string;
}

/** Addresses in which case does not matter: EVM addresses, and bech32 addresses of Bitcoin and Litecoin. */
const ANY_CASE = /^(0x|bc1|tb1|bcrt1|ltc1|tltc1|rltc1)/i;

/** How an account's key, or a single address, is identified. */
export function identityOfKey(keyHash: string): string {
  return `key ${keyHash}`;
}
export function identityOfAddress(pair: string, address: string): string {
  return `address ${pair} ${ANY_CASE.test(address) ? address.toLowerCase() : address}`;
}
