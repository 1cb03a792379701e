// Decides which parts of a BTCPay store Edgetill supports, and in what form. Pure functions.
import type * as Api from "../../client/edgetill.ts";
import type { Network } from "../../src/chains/registry/networks.ts";
import { sourcesOf, WEBHOOK_TYPES } from "../../src/commerce/greenfield/webhook-type.ts";
import { plainText } from "../../src/lib/plain-text.ts";
import { type Account, accountOfBtcpay, accountOfKey } from "./derivation.ts";
import type { BtcpayExport, BtcpayMethod, BtcpayStore, BtcpayWebhook } from "./greenfield.ts";
import { identityOfKey, type Wanted, type WantedSettings, type WantedWallet } from "./wanted.ts";

/** The operator's decisions for each coin. */
export interface Choices {
  /** Keys of new accounts, by coin. */
  readonly keys: ReadonlyMap<string, string>;
  /** Coins whose key was never shown to anyone, according to the operator. */
  readonly unused: ReadonlySet<string>;
  /** The secrets of webhooks by their ids, if the shop keeps its plugin. */
  readonly plugin?: ReadonlyMap<string, string> | undefined;
}

type EventNames = Api.CreateWebhookBody["events"];

/** BTCPay's events with Edgetill's names. A partly paid invoice ends as underpaid, which BTCPay also reports as expired. */
export const EVENTS: Readonly<Record<string, EventNames>> = {
  InvoiceCreated: ["invoice.created"],
  InvoiceReceivedPayment: ["payment.detected"],
  InvoicePaymentSettled: ["payment.confirmed"],
  InvoiceProcessing: ["invoice.pending_confirmation"],
  InvoiceExpired: ["invoice.expired", "invoice.underpaid"],
  InvoiceExpiredPaidPartial: ["invoice.underpaid"],
  InvoicePaidAfterExpiration: ["invoice.payment_late"],
  InvoiceSettled: ["invoice.paid", "invoice.overpaid"],
  InvoiceInvalid: ["invoice.cancelled", "invoice.reversed"],
};
const EVERYTHING: EventNames = ["invoice.*", "payment.*"];

/** Confirmations for each of BTCPay's speed policies. Edgetill requires at least one. */
export const CONFIRMATIONS: Readonly<Record<string, number>> = {
  HighSpeed: 1,
  MediumSpeed: 1,
  LowMediumSpeed: 2,
  LowSpeed: 6,
};
const COINS = ["BTC", "LTC"];
const LONGEST_LIFETIME_SECONDS = 2_592_000;
const SHORTEST_LIFETIME_SECONDS = 60;
const HIGHEST_TOLERANCE_PERCENT = 10;

/** `all`: all stores that were read, because stores may share a key. */
export function wantedOfStore(
  all: readonly BtcpayExport[],
  { store, methods, webhooks }: BtcpayExport,
  choices: Choices,
): Wanted {
  const wallets = methods.map((method) => walletOf(all, store, method, choices));
  const { plugin } = choices;
  const hooks = (webhooks ?? []).map((each) =>
    plugin === undefined ? webhookOf(each) : pluginWebhookOf(each, plugin),
  );
  const settings = settingsOf(store);
  return {
    title: `the store "${store.name}" (${store.id})`,
    wallets: wallets.flatMap(({ wallet }) => wallet ?? []),
    webhooks: hooks.flatMap(({ body }) => body ?? []),
    products: [],
    customers: [],
    settings: { ...settings.settings, ...(plugin !== undefined && { formerStoreId: store.id }) },
    left: [
      ...wallets.flatMap(({ left }) => left ?? []),
      ...(webhooks === undefined
        ? ["webhooks: the key may not read them; give it btcpay.store.webhooks.canmodifywebhooks"]
        : []),
      ...hooks.flatMap(({ left }) => left),
      "invoices, payment requests, pull payments, apps and users: open invoices end where they were made",
    ],
    notes: [
      ...wallets.flatMap(({ notes }) => notes ?? []),
      ...settings.notes,
      ...(plugin === undefined ? [] : [KEY_OF_PLUGIN]),
    ],
  };
}

const KEY_OF_PLUGIN =
  "the plugin: give it this host and a new key (docs/guides/btcpay-plugins.md). Its store's id may stay as it is";

interface WalletDecision {
  readonly wallet?: WantedWallet;
  readonly left?: string;
  readonly notes?: readonly string[];
}

function walletOf(
  all: readonly BtcpayExport[],
  store: BtcpayStore,
  method: BtcpayMethod,
  choices: Choices,
): WalletDecision {
  const { id, code } = method;
  if (code === undefined) return { left: `${id}: Edgetill has payments on chain only` };
  if (!COINS.includes(code)) return { left: `${id}: Edgetill takes extended keys of BTC and LTC only` };
  const account = accountOfMethod(method);
  const given = choices.keys.get(code);
  if (given !== undefined) return walletOfKey({ all, store, method, code, given, near: account.network });
  if (account.value === undefined) return { left: `${id}: ${account.reason}` };
  const used = choices.unused.has(code) ? whyUsed(all, account.value) : neverSaid(code);
  if (used !== undefined) return { left: `${id}: ${used}` };
  const notes = [
    `${id}: it is registered disabled. Disable it at BTCPay Server, or both show the same addresses, then enable it here`,
    ...noteOnSpeed(id, store),
  ];
  return { wallet: wantedWallet(account.value, store, false), notes };
}

function accountOfMethod({ code = "", scheme, accountKeyPath, previewed }: BtcpayMethod): {
  readonly value?: Account;
  readonly reason?: string;
  readonly network?: Network;
} {
  if (scheme === undefined)
    return { reason: "its key cannot be read; BTCPay 2 shows it to keys with btcpay.store.canmodifystoresettings" };
  const read = accountOfBtcpay({ code, scheme, accountKeyPath, previewed });
  return read.ok ? { value: read.value, network: read.value.network } : { reason: read.error };
}

const neverSaid = (code: string) =>
  `BTCPay Server may have shown addresses of this key, and Edgetill begins each key at its first address, so two customers would get one address. Make a new account in your wallet software and give its key with --key ${code}=..., or if no address was ever shown, say --unused ${code}`;

/** Evidence against an operator's claim that no address of a key was ever shown; undefined if there is none. */
function whyUsed(all: readonly BtcpayExport[], { keyHash }: Account): string | undefined {
  const holders = all.flatMap(({ store: { id }, methods, hasInvoices }) =>
    methods
      .filter((method) => accountOfMethod(method).value?.keyHash === keyHash)
      .map(({ hasTransactions }) => ({ id, hasInvoices, hasTransactions })),
  );
  const used = holders.find(({ hasInvoices, hasTransactions }) => hasInvoices !== false || hasTransactions === true);
  if (used === undefined) return undefined;
  const { id, hasInvoices, hasTransactions } = used;
  if (hasTransactions === true) return `its wallet in the store ${id} has transactions, so it is not unused`;
  return hasInvoices === true
    ? `the store ${id} has invoices with this key, so it is not unused`
    : `whether the store ${id} has invoices cannot be read: give the key btcpay.store.canviewinvoices`;
}

function walletOfKey(of: {
  readonly all: readonly BtcpayExport[];
  readonly store: BtcpayStore;
  readonly method: BtcpayMethod;
  readonly code: string;
  readonly given: string;
  readonly near: Network | undefined;
}): WalletDecision {
  const { all, store, method, code } = of;
  const account = accountOfKey(code, of.given, of.near);
  if (!account.ok) return { left: `${method.id}: the key of --key ${code} is refused: ${account.error}` };
  const { keyHash } = account.value;
  const isOfBtcpay = all.some(({ methods }) =>
    methods.some((each) => accountOfMethod(each).value?.keyHash === keyHash),
  );
  if (isOfBtcpay)
    return {
      left: `${method.id}: the key of --key ${code} is one that BTCPay Server uses; take one of a new account`,
    };
  const [first = ""] = account.value.addresses;
  const notes = [
    `${method.id}: BTCPay does not know this key; compare ${first} with the first receiving address of the new account in your wallet software`,
    ...noteOnSpeed(method.id, store),
  ];
  return { wallet: wantedWallet(account.value, store, method.isEnabled), notes };
}

function wantedWallet(
  { network, xpub, derivationPath, keyHash, addresses }: Account,
  { speedPolicy = "" }: BtcpayStore,
  isEnabled: boolean,
): WantedWallet {
  const requiredConfirmations = ownMember(CONFIRMATIONS, speedPolicy) ?? 1;
  return {
    body: {
      walletType: "XPUB_WALLET",
      cryptocurrency: network.nativeCode,
      network: network.name,
      xpub,
      derivationPath,
      requiredConfirmations,
      isEnabled,
    },
    identity: identityOfKey(keyHash),
    addresses,
  };
}

function noteOnSpeed(id: string, { speedPolicy }: BtcpayStore): readonly string[] {
  return speedPolicy === "HighSpeed"
    ? [`${id}: the store takes unconfirmed payments as settled, Edgetill waits for one confirmation`]
    : [];
}

interface WebhookDecision {
  readonly body?: Api.CreateWebhookBody;
  readonly left: readonly string[];
}

function webhookOf({ id, url, isEnabled, everything, events }: BtcpayWebhook): WebhookDecision {
  const known = everything ? EVERYTHING : events.flatMap((name) => ownMember(EVENTS, name) ?? []);
  const unknown = everything ? [] : events.filter((name) => ownMember(EVENTS, name) === undefined);
  const shown = plainText(url);
  const left = unknown.map((name) => `webhook ${shown}: Edgetill has no event like ${plainText(name)}`);
  if (!isEnabled) return { left: [`webhook ${shown}: it is disabled`] };
  if (known.length === 0) return { left: [...left, `webhook ${shown}: none of its events has a counterpart`] };
  return {
    body: {
      url,
      events: [...new Set(known)].toSorted(),
      description: `Moved from BTCPay Server, webhook ${id}`,
      // The webhook's receiver does not support Edgetill's bodies and the new secret yet.
      isActive: false,
    },
    left,
  };
}

/** A webhook for a receiver that keeps BTCPay Server's format. It is active at once if the receiver already has its secret. */
function pluginWebhookOf(
  { id, url, isEnabled, everything, events }: BtcpayWebhook,
  secrets: ReadonlyMap<string, string>,
): WebhookDecision {
  const types = everything ? WEBHOOK_TYPES : events.filter((name) => WEBHOOK_TYPES.includes(name));
  const shown = plainText(url);
  const left = everything
    ? []
    : events
        .filter((name) => !WEBHOOK_TYPES.includes(name))
        .map((name) => `webhook ${shown}: Edgetill has no ${plainText(name)} for plugins`);
  if (!isEnabled) return { left: [`webhook ${shown}: it is disabled`] };
  if (types.length === 0) return { left: [...left, `webhook ${shown}: none of its events is there for plugins`] };
  const secret = secrets.get(id);
  const body = {
    url,
    format: "GREENFIELD",
    events: [...sourcesOf(types)],
    description: `Moved from BTCPay Server, webhook ${id}`,
    isActive: secret !== undefined,
    ...(secret !== undefined && { secret }),
  } as const;
  return { body, left };
}

/** Names come from another server, so an inherited member such as `toString` must not be found. */
function ownMember<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function settingsOf(store: BtcpayStore): { readonly settings: WantedSettings; readonly notes: readonly string[] } {
  const { invoiceExpirationSeconds: seconds, paymentTolerance: tolerance, defaultCurrency } = store;
  const name = plainText(store.name).trim();
  const lifetime =
    seconds === undefined
      ? undefined
      : Math.min(LONGEST_LIFETIME_SECONDS, Math.max(SHORTEST_LIFETIME_SECONDS, Math.floor(seconds)));
  const percent = tolerance === undefined ? undefined : toleranceOf(tolerance);
  return {
    settings: {
      ...(lifetime === undefined ? {} : { invoiceLifetimeSeconds: lifetime }),
      ...(percent === undefined ? {} : { underpaidTolerancePercent: percent }),
      ...(name === "" ? {} : { brandName: [...name].slice(0, 100).join("").trim() }),
    },
    notes: [
      ...(tolerance !== undefined && tolerance > HIGHEST_TOLERANCE_PERCENT
        ? [`payment tolerance: ${tolerance} % becomes ${HIGHEST_TOLERANCE_PERCENT} %, the most that Edgetill has`]
        : []),
      ...(percent !== undefined && percent > 0
        ? ["payment tolerance: Edgetill also has a most in money, the setting underpaidToleranceMax"]
        : []),
      ...(defaultCurrency === undefined || defaultCurrency === "USD"
        ? []
        : [
            `default currency: invoices without a currency are in USD; send "currency": "${plainText(defaultCurrency)}"`,
          ]),
    ],
  };
}

/** BTCPay's tolerance, rounded down to two fraction digits, so that Edgetill never tolerates more. */
function toleranceOf(percent: number): number {
  const bounded = Math.min(HIGHEST_TOLERANCE_PERCENT, Math.max(0, percent));
  return Number((Math.floor(Number((bounded * 100).toFixed(6))) / 100).toFixed(2));
}
