// Decides which of a merchant's data, on another server that implements this interface, Edgetill supports. Pure functions.
import type * as Api from "../../client/edgetill.ts";
import { assetOn, type Network, networkNamed } from "../../src/chains/registry/networks.ts";
import { formatMicros, microsFromJsonNumber } from "../../src/lib/money.ts";
import { plainText } from "../../src/lib/plain-text.ts";
import { SUBSCRIPTIONS } from "../../src/notifications/webhooks/subscription.ts";
import { KNOWN_CURRENCIES } from "../../src/rates/contract.ts";
import { type Account, accountOf, accountOfKey } from "./derivation.ts";
import type { Choices } from "./from-btcpay.ts";
import type { OtherCustomer, OtherMerchant, OtherProduct, OtherWallet, OtherWebhook } from "./interface-source.ts";
import { identityOfAddress, identityOfKey, type Wanted, type WantedWallet } from "./wanted.ts";

type EventNames = Api.CreateWebhookBody["events"];
type Currency = NonNullable<Api.CreateProductBody["currency"]>;

interface Decision<T> {
  readonly wanted?: T;
  readonly left?: readonly string[];
  readonly notes?: readonly string[];
}

export function wantedOfMerchant(from: OtherMerchant, choices: Choices): Wanted {
  const wallets = from.wallets.map((wallet) => walletOf(wallet, choices));
  const webhooks = from.webhooks.map(webhookOf);
  const products = from.products.filter(isKept).map(productOf);
  const customers = from.customers.filter(isKept).map(customerOf);
  const all: readonly Decision<unknown>[] = [...wallets, ...webhooks, ...products, ...customers];
  const images = from.products.filter((each) => isKept(each) && typeof each.image === "string").length;
  return {
    title: `the merchant ${from.merchantId}`,
    wallets: wallets.flatMap(({ wanted }) => wanted ?? []),
    webhooks: webhooks.flatMap(({ wanted }) => wanted ?? []),
    products: products.flatMap(({ wanted }) => wanted ?? []),
    customers: customers.flatMap(({ wanted }) => wanted ?? []),
    settings: {},
    left: [
      ...from.unread.map((kind) => `${kind}: the server does not show them to this key`),
      ...all.flatMap(({ left }) => left ?? []),
      ...(images === 0 ? [] : [`the pictures of ${images} products: give them again in the console`]),
      "invoices and payments: open invoices end where they were made",
      "API keys, secrets of webhooks, team and settings: nobody can read the first two, and people make the others",
    ],
    notes: all.flatMap(({ notes }) => notes ?? []),
  };
}

const isKept = ({ deletedAt }: { readonly deletedAt?: string | null | undefined }) => (deletedAt ?? null) === null;

function walletOf(wallet: OtherWallet, choices: Choices): Decision<WantedWallet> {
  const network = networkNamed(wallet.network);
  const asset = network === undefined ? undefined : assetOn(network, wallet.cryptocurrency);
  const shown = plainText(`${wallet.cryptocurrency} on ${wallet.network}`);
  if (network === undefined || asset === undefined) return left(`wallet ${shown}: Edgetill does not have this pair`);
  return wallet.walletType === "DIRECT_WALLET"
    ? directWallet(wallet, network, asset.code)
    : xpubWallet(wallet, network, choices);
}

function directWallet(wallet: OtherWallet, network: Network, code: string): Decision<WantedWallet> {
  const pair = `${code} on ${network.name}`;
  const { address } = wallet;
  if (typeof address !== "string") return left(`wallet ${pair}: the server does not show its address`);
  return {
    wanted: {
      body: {
        walletType: "DIRECT_WALLET",
        cryptocurrency: code,
        network: network.name,
        address,
        requiredConfirmations: wallet.requiredConfirmations ?? 1,
        isEnabled: false,
      },
      identity: identityOfAddress(pair, address),
      addresses: [],
    },
    notes: [
      `wallet ${pair}: it is registered disabled. On one address the amount says which invoice is meant, and while both servers have open invoices to it, one payment may count at both. Disable it there, wait until the open invoices have ended, then enable it here`,
    ],
  };
}

function xpubWallet(wallet: OtherWallet, network: Network, choices: Choices): Decision<WantedWallet> {
  const code = network.nativeCode;
  const pair = `${code} on ${network.name}`;
  const account = accountOf(network, wallet.xpub ?? "", wallet.derivationPath ?? undefined);
  const given = choices.keys.get(code);
  const fresh = given === undefined ? undefined : accountOfKey(code, given, network);
  if (fresh?.ok && fresh.value.network.name === network.name)
    return freshWallet(wallet, fresh.value, account.ok ? account.value.keyHash : undefined);
  if (fresh?.ok === false) return left(`wallet ${pair}: the key of --key ${code} is refused: ${fresh.error}`);
  if (!account.ok) return left(`wallet ${pair}: ${account.error}`);
  const { previewed } = wallet;
  if (previewed.some((address, index) => account.value.addresses[index] !== address))
    return left(`wallet ${pair}: Edgetill derives other addresses from its key than that server, so it is not moved`);
  const used = whyUsed(wallet, code, choices.unused.has(code));
  if (used !== undefined) return left(`wallet ${pair}: ${used}`);
  return {
    wanted: xpubWanted(wallet, account.value, false),
    notes: [
      `wallet ${pair}: it is registered disabled. Disable it there, or both show the same addresses, then enable it here`,
    ],
  };
}

function freshWallet(wallet: OtherWallet, account: Account, oldHash: string | undefined): Decision<WantedWallet> {
  const { nativeCode, name } = account.network;
  const pair = `${nativeCode} on ${name}`;
  if (account.keyHash === oldHash)
    return left(`wallet ${pair}: the key of --key ${nativeCode} is the one in use; take one of a new account`);
  const [first = ""] = account.addresses;
  return {
    wanted: xpubWanted(wallet, account, wallet.isEnabled ?? true),
    notes: [`wallet ${pair}: compare ${first} with the first receiving address of the new account`],
  };
}

/** Only `nextIndex` 0 proves that no address was used. `lastUsedIndex` is 0 before the first address and after it. */
function whyUsed({ nextIndex, lastUsedIndex }: OtherWallet, code: string, isSaidUnused: boolean): string | undefined {
  if (nextIndex === 0) return undefined;
  const isUsed = (nextIndex ?? 0) > 0 || (lastUsedIndex ?? 0) > 0;
  if (!isUsed && isSaidUnused) return undefined;
  const way = `Make a new account in your wallet software and give its key with --key ${code}=...`;
  return isUsed
    ? `the other server has given addresses of this key, and Edgetill begins each key at its first address, so two customers would get one address. ${way}`
    : `the other server may have given addresses of this key. ${way}, or if no address was ever shown, say --unused ${code}`;
}

/** A key that both servers have starts disabled, so that only one of them uses it. */
function xpubWanted(wallet: OtherWallet, account: Account, isEnabled: boolean): WantedWallet {
  const { network, xpub, derivationPath, keyHash, addresses } = account;
  return {
    body: {
      walletType: "XPUB_WALLET",
      cryptocurrency: network.nativeCode,
      network: network.name,
      xpub,
      derivationPath,
      requiredConfirmations: wallet.requiredConfirmations ?? 1,
      isEnabled,
    },
    identity: identityOfKey(keyHash),
    addresses,
  };
}

const isSubscription = (name: string): name is EventNames[number] => SUBSCRIPTIONS.includes(name);

function webhookOf({ id, url, events, isActive }: OtherWebhook): Decision<Api.CreateWebhookBody> {
  const shown = plainText(url);
  if (isActive === false) return left(`webhook ${shown}: it is switched off`);
  const names = events ?? [];
  const known = [...new Set(names.filter(isSubscription))].toSorted();
  const unknown = names.filter((name) => !isSubscription(name));
  const lost = unknown.map((name) => `webhook ${shown}: Edgetill has no event ${plainText(name)}`);
  if (known.length === 0) return { left: [...lost, `webhook ${shown}: none of its events is known here`] };
  const description = `Moved from another server, webhook ${plainText(id ?? url)}`.slice(0, 500);
  // The webhook's receiver does not have the new secret yet.
  return { wanted: { url, events: known, description, isActive: false }, left: lost };
}

const isCurrency = (code: string): code is Currency => KNOWN_CURRENCIES.includes(code);

function productOf(product: OtherProduct): Decision<Api.CreateProductBody> {
  const { name, description, isActive, askForName, askForAddress, askForPhoneNumber } = product;
  const currency = (product.currency ?? "USD").toUpperCase();
  const price = priceOf(product.price);
  const shown = plainText(name);
  if (!isCurrency(currency)) return left(`product ${shown}: Edgetill has no prices in ${plainText(currency)}`);
  if (price === undefined) return left(`product ${shown}: its price is none from 0 to 1,000,000`);
  return {
    wanted: {
      name,
      description: textOf(description),
      price,
      currency,
      isActive: isActive ?? true,
      askForName: askForName ?? false,
      askForAddress: askForAddress ?? false,
      askForPhoneNumber: askForPhoneNumber ?? false,
    },
  };
}

/** The price as the server will store it, with six fraction digits, so that a second run recognises it. */
function priceOf(price: string | number): number | undefined {
  const micros = price === "" ? undefined : microsFromJsonNumber(Number(price));
  return micros?.ok ? Number(formatMicros(micros.value)) : undefined;
}

/** Other servers return a missing text as null or as an empty string. */
function textOf(text: string | null | undefined): string | null {
  return (text ?? "") === "" ? null : (text ?? null);
}

function customerOf({ email, name, address, phoneNumber, metadata }: OtherCustomer): Decision<Api.UpsertCustomerBody> {
  const wanted = {
    email: textOf(email),
    name: textOf(name),
    address: textOf(address),
    phoneNumber: textOf(phoneNumber),
    metadata: metadata ?? null,
  };
  return Object.values(wanted).every((value) => value === null) ? {} : { wanted };
}

function left(reason: string): { readonly left: readonly string[] } {
  return { left: [reason] };
}
