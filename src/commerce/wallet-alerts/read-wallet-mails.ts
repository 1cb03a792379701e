import { selectLiveMerchant } from "../../accounts/merchant-records/store.ts";
import type { DueNotice } from "../../accounts/notices/store.ts";
import { newToken } from "../../accounts/sessions/open-session.ts";
import { selectStewards } from "../../accounts/teams/store.ts";
import { sha256Hex } from "../../lib/bytes.ts";
import type { Keyring } from "../../lib/keyring.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Mail } from "../../platform/mail/mail.ts";
import { selectLiveWallet } from "../wallet-records/store.ts";
import { isWalletIntact, type Wallet } from "../wallet-records/wallet.ts";
import { joinedMail, LINK_LIFETIME_MS } from "./alert.ts";
import { insertDisableTokens } from "./store.ts";

/**
 * The emails about a wallet whose settings were changed repeatedly. Empty if the wallet was deleted, because that was emailed at once. If the emails
 * about the changes had links, each reader gets a new link.
 */
export async function readWalletMails(
  deps: {
    readonly db: Db;
    readonly nowMs: number;
    readonly publicUrl: string;
    /** Undefined if the deployment has no valid key: then the emails show no address. */
    readonly macKeys: Keyring | undefined;
  },
  { kind, thing, actor, merchantId, isLinked, waiting: count }: DueNotice,
): Promise<readonly Mail[]> {
  const { db, nowMs, publicUrl, macKeys } = deps;
  const [[wallet], stewards, [merchant]] = await batch(db, [
    selectLiveWallet(db, merchantId, thing),
    selectStewards(db, merchantId),
    selectLiveMerchant(db, merchantId),
  ]);
  if (wallet === undefined || merchant === undefined) return [];
  const readers = stewards.map((steward) => ({ ...steward, token: isLinked ? newToken() : null }));
  const tokens = readers.flatMap(({ token, userId }) => (token === null ? [] : [{ hash: sha256Hex(token), userId }]));
  const expiresAtMs = nowMs + LINK_LIFETIME_MS;
  if (tokens.length > 0) await insertDisableTokens(db, tokens, { merchantId, walletId: wallet.id, nowMs, expiresAtMs });
  const isIntact = (read: Wallet) => macKeys !== undefined && isWalletIntact(macKeys, read);
  const context = { publicUrl, nowMs, isIntact };
  const audience = { merchantName: merchant.name, author: actor, readers };
  const change = { wallet, count, isEnabling: kind === "WALLET_ENABLED" };
  return readers.map((reader) => joinedMail(change, audience, reader, context));
}
