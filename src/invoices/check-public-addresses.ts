import type { BatchItem } from "drizzle-orm/batch";
import type { Db } from "../db/client.ts";
import type { Failure } from "../failures.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { LANDED_MS, type PublicHold } from "../wallets/public-hold.ts";
import type { Wallet } from "../wallets/wallet.ts";
import type { PaymentMethod } from "./invoice.ts";
import { assertFewPublicAddresses, markFromPublicKey, selectPublicHold } from "./store.ts";

/** decisions 7: addresses that browsers may hold on unpaid invoices of a merchant, or they could blow a key's gap. */
const PUBLIC_ADDRESS_LIMIT = 20;

/** What public keys hold, for the allocator; null for a wallet that spends no address. Refused where they hold all they may. */
export async function readPublicHold(
  db: Db,
  wallet: Wallet,
  nowMs: number,
): Promise<Result<PublicHold | null, Failure>> {
  if (wallet.walletType === "DIRECT_WALLET") return ok(null);
  const [found] = await selectPublicHold(db, wallet.merchantId, nowMs - LANDED_MS);
  if (found === undefined) throw new Error("what public keys hold is one row, always");
  if (found.held >= PUBLIC_ADDRESS_LIMIT) return err({ code: "PUBLIC_ADDRESS_LIMIT" });
  return ok({ max: PUBLIC_ADDRESS_LIMIT, ...found, nowMs });
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
