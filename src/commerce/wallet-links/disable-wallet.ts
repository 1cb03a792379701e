// The link in an alert email. Its token disables the wallet that the email is about, once, with or without a session, and can do nothing else. It
// proves access to the mailbox of a user who was OWNER or ADMIN when the wallet changed, and who still is.

import { selectLiveMerchant } from "../../accounts/merchant-records/store.ts";
import { selectStewards } from "../../accounts/teams/store.ts";
import { sha256Hex } from "../../lib/bytes.ts";
import type { MerchantId, UserId, WalletId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { batch } from "../../platform/db/batch.ts";
import { readRow, readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { consumeDisableToken, selectDisableToken } from "../wallet-alerts/store.ts";
import { assertSettings, selectLiveWallet, updateLiveWallet } from "../wallet-records/store.ts";
import type { Wallet } from "../wallet-records/wallet.ts";
import { changeWallet, type WalletDependencies } from "../wallets/change-wallet.ts";

/** The caller and the recipients of the emails come from the link. */
type DisableDependencies = Omit<WalletDependencies, "trail" | "audience">;

/**
 * Fails with LINK_INVALID for a token that is unknown, used or expired, or belongs to a user who is no longer OWNER or ADMIN, and for a deleted
 * wallet.
 */
export async function disableWallet(
  deps: DisableDependencies,
  of: { readonly token: string } & Pick<Trail, "ip" | "requestId">,
): Promise<Result<Wallet, Failure>> {
  const hash = sha256Hex(of.token);
  const link = await readLink(deps, hash);
  if (!link.ok) return link;
  const { userId, email, merchantId, walletId } = link.value;
  const rows = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [
      selectLiveWallet(deps.db, merchantId, walletId),
      selectStewards(deps.db, merchantId),
      selectLiveMerchant(deps.db, merchantId),
    ]),
  );
  if (!rows.ok) return rows;
  const [[wallet], stewards, [merchant]] = rows.value;
  if (wallet === undefined || merchant === undefined) return err({ code: "LINK_INVALID" });
  const readers = stewards.map((steward) => ({ ...steward, token: null }));
  const { ip, requestId } = of;
  const acting = {
    ...deps,
    trail: { actor: { kind: "USER", id: userId }, ip, requestId },
    audience: { merchantName: merchant.name, author: email, readers },
  } as const;
  const disabled = await changeWallet(acting, { merchantId, walletId, read: wallet }, async (read) => {
    // Checked again, because the batch may have been aborted by another click on the same link, or by a change to its holder's seat.
    const still = await readLink(deps, hash);
    if (!still.ok) return still;
    const columns = { isEnabled: false, updatedAtMs: deps.nowMs };
    return ok({
      action: "wallet.disabled_by_link",
      wallet: { ...read, ...columns },
      statements: [
        ...consumeDisableToken(deps.db, hash, deps.nowMs),
        assertSettings(deps.db, read),
        updateLiveWallet(deps.db, { merchantId, walletId }, columns),
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

async function readLink(deps: DisableDependencies, hash: string): Promise<Result<Link, Failure>> {
  const row = await readRow(deps.sleep, () => selectDisableToken(deps.db, hash, deps.nowMs), { code: "LINK_INVALID" });
  if (!row.ok) return row;
  const { userId, email, data } = row.value;
  if (data === null) throw new Error("a link without a wallet");
  const wallet = parseJson<{ readonly merchantId: MerchantId; readonly walletId: WalletId }>(data);
  return ok({ userId, email, ...wallet });
}
