// Checks every EVM network for code at a wallet's address, to find where else the address may be registered. It registers nothing.
import type { MerchantId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import type { MacKeys } from "../wallet-records/row-mac.ts";
import { isWalletIntact, type Wallet } from "../wallet-records/wallet.ts";
import { type CodeAnswer, networksLike, offersOf } from "./network-offer.ts";

export interface CheckDependencies {
  readonly macKeys: MacKeys;
  /** Never throws; NO_ANSWER if it takes too long. */
  codeAt(network: string, address: string): Promise<CodeAnswer>;
  /** Counts one of the merchant's checks. Returns the seconds to wait if there were too many, otherwise 0. */
  waitOf(merchantId: MerchantId): Promise<number>;
}

/** Fails with WALLET_FROZEN if the row was altered, or with RATE_LIMITED. Queries all networks at the same time. Safe to repeat. */
export async function checkNetworks(
  deps: CheckDependencies,
  { wallet, live }: { readonly wallet: Wallet; readonly live: readonly Wallet[] },
): Promise<Result<object, Failure>> {
  if (!isWalletIntact(deps.macKeys, wallet)) return err({ code: "WALLET_FROZEN" });
  const { address } = wallet;
  const networks = networksLike(wallet);
  if (address === null || networks.length === 0) return ok({ address, networks: [] });
  const waitSeconds = await deps.waitOf(wallet.merchantId);
  if (waitSeconds > 0) return err({ code: "RATE_LIMITED", retryAfterSeconds: waitSeconds });
  const asked = networks.map(async ({ name }) => [name, await deps.codeAt(name, address)] as const);
  const answers = new Map<string, CodeAnswer>(await Promise.all(asked));
  return ok({ address, networks: offersOf({ wallet, live, answers }) });
}
