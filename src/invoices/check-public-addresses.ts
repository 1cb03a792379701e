import type { Db } from "../db/client.ts";
import type { Failure } from "../failures.ts";
import type { MerchantId } from "../lib/ids.ts";
import type { WalletType } from "../wallets/wallet.ts";
import { countPublicAddresses } from "./store.ts";

/** decisions 7: unpaid invoices with an address of their own that browsers may have made, or they could blow a key's gap. */
const PUBLIC_ADDRESS_LIMIT = 20;

/** Why a public key may not activate this wallet now; undefined when it may. */
export async function publicAddressRefusal(
  db: Db,
  of: {
    readonly merchantId: MerchantId;
    readonly wallet: { readonly walletType: WalletType };
    readonly isFromPublicKey: boolean;
  },
): Promise<Failure | undefined> {
  if (!of.isFromPublicKey || of.wallet.walletType === "DIRECT_WALLET") return undefined;
  const [held] = await countPublicAddresses(db, of.merchantId);
  return (held?.count ?? 0) < PUBLIC_ADDRESS_LIMIT ? undefined : { code: "PUBLIC_ADDRESS_LIMIT" };
}
