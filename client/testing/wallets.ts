// Wallets of the fake, and the amounts that distinguish invoices at one address.
import { assetOn, networkNamed } from "../../src/chains/registry/networks.ts";
import { isSamePair, type Pair, pairKey, pairOf } from "../../src/chains/registry/pair.ts";
import { saltCapacity, saltedUnits } from "../../src/commerce/amounts/direct-amount.ts";
import type { Invoice } from "../../src/commerce/invoice-records/invoice.ts";
import type { PayableWallet } from "../../src/commerce/payment-methods/activate-payment-method.ts";
import { UNPROVEN } from "../../src/commerce/ranks/rank.ts";
import { signRow } from "../../src/commerce/wallet-records/row-mac.ts";
import { type Wallet, walletMacSubject } from "../../src/commerce/wallet-records/wallet.ts";
import type { FakeState } from "./state.ts";

/** The pair in the service's spelling; undefined if there is no such pair. */
export function pairNamed({ cryptocurrency, network: name }: Pair): Pair | undefined {
  const network = networkNamed(name);
  const asset = network === undefined ? undefined : assetOn(network, cryptocurrency);
  return network === undefined || asset === undefined
    ? undefined
    : { cryptocurrency: asset.code, network: network.name };
}

/** A direct wallet; by default no one owns its address. */
export function newWallet(
  state: FakeState,
  of: { readonly pair: Pair; readonly address?: string | undefined; readonly requiredConfirmations: number },
): Wallet {
  const { cryptocurrency, network } = of.pair;
  const nowMs = state.now();
  const isEvm = pairOf(of.pair).network.family === "evm";
  const nobodys = isEvm ? `0x${"0".repeat(39)}1` : `fake-${network.toLowerCase()}-address`;
  const row = {
    id: state.newId("wal"),
    merchantId: state.merchant.id,
    walletType: "DIRECT_WALLET",
    cryptocurrency,
    network,
    address: of.address ?? nobodys,
    xpub: null,
    derivationPath: null,
    scheme: null,
    keyHash: null,
    requiredConfirmations: of.requiredConfirmations,
    isEnabled: true,
    lastUsedIndex: null,
    nextIndex: null,
    gap: null,
    frozenAtMs: null,
    usableFromMs: 0,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    deletedAtMs: null,
  } as const;
  return { ...row, ...signRow(state.macKeys, walletMacSubject(row)) };
}

/** The wallets in the form in which they are read for a new invoice. In the fake, no other merchant has their addresses. */
export function payableWallets({ wallets }: FakeState): readonly PayableWallet[] {
  const alone = { rank: UNPROVEN, hasOthers: false, provenOthers: 0 };
  return wallets.map((each) => ({ ...each, ...alone, isKeyShared: false, paidAddresses: 0, isPaused: false }));
}

export function walletFor({ wallets }: FakeState, pair: Pair): Wallet | undefined {
  return wallets.find((wallet) => isSamePair(wallet, pair));
}

/**
 * The amount that an invoice asks for at a price: the first one that no other watched invoice uses. The same invoice and price always get the same
 * amount.
 */
export function amountFor(state: FakeState, { id: invoiceId }: Invoice, pair: Pair, priceUnits: bigint): bigint {
  const key = pairKey(pair);
  const held = state.amounts.filter((each) => each.pair === key);
  const own = held.find((each) => each.invoiceId === invoiceId && each.priceUnits === priceUnits);
  if (own !== undefined) return own.units;
  const taken = new Set(held.filter((each) => isWatched(state, each.invoiceId)).map(({ units }) => units));
  const { asset } = pairOf(pair);
  for (let salt = 0; salt < saltCapacity(priceUnits, asset); salt += 1) {
    const units = saltedUnits(priceUnits, asset, salt);
    if (taken.has(units)) continue;
    state.amounts.push({ invoiceId, pair: key, priceUnits, units });
    return units;
  }
  throw new Error(`every amount near ${priceUnits} is taken: the fake has too many open invoices of one price`);
}

/** Whether an invoice's amount is still watched for. An invoice that is being created is not stored yet. */
function isWatched({ invoices, now }: FakeState, id: string): boolean {
  const { invoice } = invoices.get(id) ?? {};
  return invoice === undefined || now() <= invoice.monitorUntilMs;
}
