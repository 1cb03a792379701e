// The rows that wallet routes read together with the caller, in one storage call. Every value is bound, and none is trusted.

import { selectStewards } from "../../accounts/teams/store.ts";
import type { Db } from "../../platform/db/client.ts";
import {
  selectLiveWallet,
  selectLiveWallets,
  selectReplacedWallet,
  selectWalletOfPair,
} from "../wallet-records/store.ts";
import { canonicalPair } from "./payout-target.ts";

/** Matches no wallet; used for an invalid request, which has no pair to look up. */
const NO_PAIR = { cryptocurrency: "", network: "" };

/** One live wallet; a malformed id matches no row, like an unknown id. */
export function walletReads(db: Db, merchantId: string, walletId: string | undefined) {
  return [selectLiveWallet(db, merchantId, walletId ?? "")] as const;
}

/** One live wallet, and the recipients of emails about its changes. */
export function changeReads(db: Db, merchantId: string, walletId: string | undefined) {
  return [selectLiveWallet(db, merchantId, walletId ?? ""), selectStewards(db, merchantId)] as const;
}

/** All live wallets, oldest first; not paginated, because there is at most one for each pair. */
export function walletListReads(db: Db, merchantId: string) {
  return [selectLiveWallets(db, merchantId)] as const;
}

/** The live wallet that a registration would collide with, the recipients of its email, and the pair's previous wallet. */
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
