// Reads what the merchant at Edgetill already has.

import type * as Api from "../../client/edgetill.ts";
import type { Edgetill } from "../../client/edgetill.ts";
import { networkNamed } from "../../src/chains/registry/networks.ts";
import { accountOf } from "./derivation.ts";
import { identityOfAddress, identityOfKey, type Wanted, type WantedWallet } from "./wanted.ts";

export interface Present {
  readonly merchantName: string;
  /** The key's permissions, such as `wallet:create`. */
  readonly permissions: readonly string[];
  readonly wallets: readonly PresentWallet[];
  readonly webhooks: readonly Api.Webhook[];
  readonly products: readonly Api.Product[];
  readonly customers: readonly Api.Customer[];
  /** Undefined if no settings are wanted. */
  readonly settings: Api.Settings | undefined;
}

interface PresentWallet {
  readonly id: string;
  /** `BTC on BTC` */
  readonly pair: string;
  /** Undefined for a wallet that shows no address, such as a frozen one. */
  readonly identity: string | undefined;
  /** The first addresses that the server shows; empty for a single address, and for unwanted pairs. */
  readonly addresses: readonly string[];
}

/** Reads only the wanted kinds of data, so that the key needs no further permissions. */
export async function readPresent(edgetill: Edgetill, wanted: Wanted): Promise<Present> {
  const merchant = await edgetill.merchant.get();
  const products: Api.Product[] = [];
  const customers: Api.Customer[] = [];
  if (wanted.products.length > 0) for await (const each of edgetill.products.list({ limit: 100 })) products.push(each);
  if (wanted.customers.length > 0)
    for await (const each of edgetill.customers.list({ limit: 100 })) customers.push(each);
  return {
    merchantName: merchant.name,
    permissions: merchant.permissions,
    wallets: wanted.wallets.length === 0 ? [] : await readWallets(edgetill, wanted.wallets),
    webhooks: wanted.webhooks.length === 0 ? [] : await edgetill.webhooks.list(),
    products,
    customers,
    settings: Object.keys(wanted.settings).length === 0 ? undefined : await edgetill.settings.get(),
  };
}

async function readWallets(edgetill: Edgetill, wanted: readonly WantedWallet[]): Promise<readonly PresentWallet[]> {
  const wallets: PresentWallet[] = [];
  for (const wallet of await edgetill.wallets.list()) {
    const { id, cryptocurrency, network } = wallet;
    const identity = identityOf(wallet);
    const count = wanted.find((each) => each.identity === identity)?.addresses.length ?? 0;
    const shown = count === 0 ? [] : (await edgetill.wallets.previewAddresses(id, { from: 0, count })).data;
    const addresses = shown.map(({ address }) => address);
    wallets.push({ id, pair: `${cryptocurrency} on ${network}`, identity, addresses });
  }
  return wallets;
}

function identityOf({ cryptocurrency, network, address, xpub, derivationPath }: Api.Wallet): string | undefined {
  if (address !== null) return identityOfAddress(`${cryptocurrency} on ${network}`, address);
  const on = networkNamed(network);
  if (on === undefined || xpub === null || derivationPath === null) return undefined;
  const account = accountOf(on, xpub, derivationPath);
  return account.ok ? identityOfKey(account.value.keyHash) : undefined;
}
