// Addresses of extended keys that browsers are given (docs/limits.md): what the allocator decides by, and what the batch of an activation asserts.
import type { InvoiceId } from "../../lib/ids.ts";
import type { CallerNetwork } from "../../lib/ip-network.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Statement } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { markFromPublicKey, selectHold, takeHold } from "../public-holds/store.ts";
import { LANDED_MS, type PublicHold } from "../wallets/public-hold.ts";
import type { MacKeys } from "../wallets/row-mac.ts";
import type { Wallet } from "../wallets/wallet.ts";
import type { PaymentMethod } from "./invoice.ts";
import { pairKey } from "./payment-method.ts";
import { publicNetworks } from "./public-network.ts";

interface PublicDependencies {
  readonly db: Db;
  readonly macKeys: MacKeys;
  readonly nowMs: number;
}

/** What the allocator weighs a browser's wish for an address by; null for a wallet that spends no address. */
export async function readPublicHold(
  { db, macKeys, nowMs }: PublicDependencies,
  {
    wallet,
    invoiceId,
    callers,
  }: {
    readonly wallet: Wallet;
    readonly invoiceId: InvoiceId;
    readonly callers: readonly CallerNetwork[];
  },
): Promise<PublicHold | null> {
  const { merchantId, keyHash } = wallet;
  if (keyHash === null) return null;
  const networks = publicNetworks(macKeys, merchantId, callers);
  const [found] = await selectHold(db, { merchantId, invoiceId, keyHash, sinceMs: nowMs - LANDED_MS }, networks);
  if (found === undefined) throw new Error("what the public holds is one row, always");
  const { lastPaidIndex, landed, held } = found;
  return {
    lastPaidIndex,
    landed,
    networks: networks.map(({ hash, times }, n) => ({ hash, held: held[n] ?? 0, max: maxFor(times) })),
    nowMs,
  };
}

/** The statements of a browser's activation: those of any, with the address held for the networks that asked. */
export function withinPublicLimit(
  { db, macKeys }: PublicDependencies,
  {
    method,
    callers,
    statements,
  }: {
    readonly method: PaymentMethod;
    readonly callers: readonly CallerNetwork[];
    readonly statements: readonly Statement[];
  },
): readonly Statement[] {
  if (method.addressIndex === null) return statements;
  const { merchantId, invoiceId } = method;
  const of = { merchantId, invoiceId, kind: "ADDRESS", pair: pairKey(method) } as const;
  const networks = publicNetworks(macKeys, merchantId, callers);
  return [
    ...networks.flatMap((network) => takeHold(db, of, { ...network, max: maxFor(network.times) })),
    ...statements,
    markFromPublicKey(db, method),
  ];
}

function maxFor(times: number): number {
  return LIMITS.publicAddressesPerIp * times;
}
