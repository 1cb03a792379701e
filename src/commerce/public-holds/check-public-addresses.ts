// Limits how many addresses of extended keys browsers get (docs/limits.md): reads the facts for the allocator's decision, and adds assertions to the
// batch of an activation.

import { pairKey } from "../../chains/registry/pair.ts";
import type { InvoiceId } from "../../lib/ids.ts";
import type { CallerNetwork } from "../../lib/ip-network.ts";
import { LIMITS } from "../../lib/limits.ts";
import { readFurther } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Write } from "../../platform/db/statement.ts";
import type { PaymentMethod } from "../invoice-records/invoice.ts";
import type { MacKeys } from "../wallet-records/row-mac.ts";
import type { Wallet } from "../wallet-records/wallet.ts";
import { LANDED_MS, type PublicHold } from "../wallets/public-hold.ts";
import { publicNetworks } from "./public-network.ts";
import { markFromPublicKey, selectHold, takeHold } from "./store.ts";

interface PublicDependencies {
  readonly db: Db;
  readonly macKeys: MacKeys;
  readonly nowMs: number;
}

/** The facts from which the allocator decides whether a browser gets an address; null for a wallet that needs no new address. */
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
  const holder = { merchantId, invoiceId, keyHash, sinceMs: nowMs - LANDED_MS };
  const [found] = await readFurther(db, selectHold(db, holder, networks));
  if (found === undefined) throw new Error("the read of public holds must return one row");
  const { lastPaidIndex, landed, held } = found;
  return {
    lastPaidIndex,
    landed,
    networks: networks.map(({ hash, times }, n) => ({ hash, held: held[n] ?? 0, max: maxFor(times) })),
    nowMs,
  };
}

/**
 * The statements of an activation by a browser: those of any activation, and the holds with which the address counts towards the limits of the
 * caller's networks.
 */
export function withinPublicLimit(
  { db, macKeys }: PublicDependencies,
  {
    method,
    callers,
    statements,
  }: {
    readonly method: PaymentMethod;
    readonly callers: readonly CallerNetwork[];
    readonly statements: readonly Write[];
  },
): readonly Write[] {
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
