// The link of an alert mail: whoever holds its token may disable that one wallet, once, signed in or not. It proves the mailbox of somebody who
// ran the merchant when the wallet changed, and disabling is all that it does (security.md 1 "Step-up").
import type { Trail } from "../audit/entry.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { sha256Hex } from "../lib/bytes.ts";
import type { MerchantId, UserId, WalletId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { selectLiveMerchant } from "../merchants/store.ts";
import { changeWallet, type WalletEffects } from "../wallets/change-wallet.ts";
import { assertSettings, selectLiveWallet, updateLiveWallet } from "../wallets/store.ts";
import type { Wallet } from "../wallets/wallet.ts";
import { consumeDisableToken, selectDisableToken, selectStewards } from "./store.ts";

/** Who disables, and who is told, the link says. */
export type DisableEffects = Omit<WalletEffects, "trail" | "audience">;

/** LINK_INVALID for a token that is unknown, used or over, and for a wallet that is gone. */
export async function disableWallet(
  fx: DisableEffects,
  of: { readonly token: string } & Pick<Trail, "ip" | "requestId">,
): Promise<Result<Wallet, Failure>> {
  const hash = sha256Hex(of.token);
  const link = await readLink(fx, hash);
  if (!link.ok) return link;
  const { userId, email, merchantId, walletId } = link.value;
  const rows = await readWithRetry(fx.sleep, async () =>
    fx.db.batch([
      selectLiveWallet(fx.db, merchantId, walletId),
      selectStewards(fx.db, merchantId),
      selectLiveMerchant(fx.db, merchantId),
    ]),
  );
  if (!rows.ok) return rows;
  const [[wallet], stewards, [merchant]] = rows.value;
  if (wallet === undefined || merchant === undefined) return err({ code: "LINK_INVALID" });
  const readers = stewards.map((steward) => ({ ...steward, token: null }));
  const { ip, requestId } = of;
  const acting = {
    ...fx,
    trail: { actor: { kind: "USER", id: userId }, ip, requestId },
    audience: { merchantName: merchant.name, author: email, readers },
  } as const;
  const disabled = await changeWallet(acting, { merchantId, walletId, read: wallet }, async (read) => {
    // A lost race may have been one against another click on this very link.
    const still = await readLink(fx, hash);
    if (!still.ok) return still;
    const columns = { isEnabled: false, updatedAtMs: fx.nowMs };
    return ok({
      action: "wallet.disabled_by_link",
      wallet: { ...read, ...columns },
      statements: [
        ...consumeDisableToken(fx.db, hash, fx.nowMs),
        assertSettings(fx.db, read),
        updateLiveWallet(fx.db, { merchantId, walletId }, columns),
      ],
    });
  });
  return !disabled.ok && disabled.error.code === "WALLET_NOT_FOUND" ? err({ code: "LINK_INVALID" }) : disabled;
}

interface Link {
  readonly userId: UserId;
  readonly email: string;
  readonly merchantId: MerchantId;
  readonly walletId: WalletId;
}

async function readLink(fx: DisableEffects, hash: string): Promise<Result<Link, Failure>> {
  const rows = await readWithRetry(fx.sleep, async () => selectDisableToken(fx.db, hash, fx.nowMs));
  if (!rows.ok) return rows;
  const [row] = rows.value;
  if (row === undefined) return err({ code: "LINK_INVALID" });
  const { userId, email, data } = row;
  if (data === null) throw new Error("a link of no wallet");
  const wallet: { readonly merchantId: MerchantId; readonly walletId: WalletId } = JSON.parse(data);
  return ok({ userId, email, ...wallet });
}
