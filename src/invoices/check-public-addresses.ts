import type { BatchItem } from "drizzle-orm/batch";
import type { Db } from "../db/client.ts";
import type { Failure } from "../failures.ts";
import type { Wallet } from "../wallets/wallet.ts";
import type { PaymentMethod } from "./invoice.ts";
import { assertFewPublicAddresses, countPublicAddresses, markFromPublicKey } from "./store.ts";

/** decisions 7: addresses that browsers may hold on unpaid invoices of a merchant, or they could blow a key's gap. */
const PUBLIC_ADDRESS_LIMIT = 20;

/** Why a public key may not activate this wallet now; undefined when it may. Asked before an address is spent. */
export async function publicAddressRefusal(db: Db, wallet: Wallet): Promise<Failure | undefined> {
  if (wallet.walletType === "DIRECT_WALLET") return undefined;
  const [held] = await countPublicAddresses(db, wallet.merchantId);
  return (held?.count ?? 0) < PUBLIC_ADDRESS_LIMIT ? undefined : { code: "PUBLIC_ADDRESS_LIMIT" };
}

/** The statements of a public key's activation: those of any, inside the limit as the batch itself sees it. */
export function withinPublicLimit(
  db: Db,
  method: PaymentMethod,
  statements: readonly BatchItem<"sqlite">[],
): readonly BatchItem<"sqlite">[] {
  if (method.addressIndex === null) return statements;
  return [
    assertFewPublicAddresses(db, method.merchantId, PUBLIC_ADDRESS_LIMIT),
    ...statements,
    markFromPublicKey(db, method),
  ];
}
