// What wallet routes read together with the key, in one storage call; every value is bound, none is trusted.

import { selectStewards } from "../../accounts/teams/store.ts";
import type { Db } from "../../platform/db/client.ts";
import { canonicalPair } from "./payout-target.ts";
import { selectLiveWallet, selectLiveWallets, selectReplacedWallet, selectWalletOfPair } from "./store.ts";

/** Matches no wallet: a request that is not valid looks nothing up. */
const NO_PAIR = { cryptocurrency: "", network: "" };

/** One live wallet; a malformed id finds none, like an unknown one. */
export function walletReads(db: Db, merchantId: string, walletId: string | undefined) {
  return [selectLiveWallet(db, merchantId, walletId ?? "")] as const;
}

/** One live wallet, and who is notified when it changes. */
export function changeReads(db: Db, merchantId: string, walletId: string | undefined) {
  return [selectLiveWallet(db, merchantId, walletId ?? ""), selectStewards(db, merchantId)] as const;
}

/** All live wallets, oldest first: at most one for each pair, so no pages. */
export function walletListReads(db: Db, merchantId: string) {
  return [selectLiveWallets(db, merchantId)] as const;
}

/** The live wallet that a registration would collide with, who is notified, and the wallet that the pair had last. */
export function registerReads(
  db: Db,
  merchantId: string,
  named: { readonly cryptocurrency: string; readonly network: string } | undefined,
) {
  const pair = named === undefined ? undefined : canonicalPair(named);
  const canonical = pair === undefined ? NO_PAIR : { ...pair, network: pair.network.name };
  return [
    selectWalletOfPair(db, merchantId, canonical),
    selectStewards(db, merchantId),
    selectReplacedWallet(db, merchantId, canonical),
  ] as const;
}
