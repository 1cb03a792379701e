// Registering a wallet: check where it would be paid, ask the key's allocator where it stands, one batch with the event and, through
// `runOnce`, the exact answer (Interface 4.1, decisions 3).
import { isConflictOn } from "../db/conflict.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import type { Prepared, Work } from "../idempotency/run-once.ts";
import { derivedId, type MerchantId, makeId, type WalletId } from "../lib/ids.ts";
import { ok, type Result } from "../lib/result.ts";
import { type WalletEffects, walletEvent } from "./change-wallet.ts";
import { addressAt, receiveChain } from "./derive-address.ts";
import { type NewWallet, type PayoutTarget, payoutTarget } from "./payout-target.ts";
import { signRow } from "./row-mac.ts";
import { insertWallet, selectWalletOfPair } from "./store.ts";
import { type Wallet, walletMacSubject } from "./wallet.ts";
import { walletBodyOf } from "./wallet-body.ts";

export interface RegisterEffects extends WalletEffects {
  /** Where the allocator of a key stands; a key never seen stands at 0. */
  standing(keyHash: string): Promise<{ readonly nextIndex: number }>;
  /** Whether the deployment serves a private chain of this name. */
  hasRegtest(network: string): boolean;
}

export interface RegisterRequest {
  readonly merchantId: MerchantId;
  readonly wanted: NewWallet;
  /** The live wallet of the pair, read with the key. */
  readonly sameId: WalletId | undefined;
}

/** The work of one registration, for `runOnce`. */
export function registerWallet(fx: RegisterEffects, request: RegisterRequest): Work {
  return async (operationId, conflict, tries): Promise<Prepared> => {
    const id = makeId("wal", operationId);
    const target = payoutTarget(request.wanted, fx.hasRegtest);
    if (!target.ok) return { kind: "refused", failure: target.error };
    if (conflict !== undefined && !isConflictOn(conflict, "wallets"))
      throw new Error(`a registration met ${conflict.kind}`);
    const same = tries === 0 ? ok(request.sameId) : await readSame(fx, request.merchantId, target.value);
    if (!same.ok) return { kind: "refused", failure: same.error };
    // Our own earlier batch may stand already: then this one aborts on its operation id and the stored answer is given.
    if (same.value !== undefined && same.value !== id) {
      return { kind: "refused", failure: { code: "WALLET_EXISTS", walletId: same.value } };
    }
    const nextIndex = await readStanding(fx, target.value);
    if (!nextIndex.ok) return { kind: "refused", failure: nextIndex.error };
    const wallet = newWallet(fx, request, { id, target: target.value, nextIndex: nextIndex.value });
    return {
      kind: "ready",
      status: 201,
      body: JSON.stringify({ ...walletBodyOf(wallet, fx.body), ...firstAddressOf(target.value) }),
      statements: [
        insertWallet(fx.db, wallet),
        walletEvent(fx, { event: "wallet.created", wallet }, derivedId("evt", operationId)),
      ],
    };
  };
}

/** After a lost race: who won it, unless they are gone already. */
async function readSame(
  fx: RegisterEffects,
  merchantId: MerchantId,
  target: PayoutTarget,
): Promise<Result<WalletId | undefined, Failure>> {
  const { cryptocurrency, network } = target;
  const pair = { cryptocurrency, network: network.name };
  const rows = await readWithRetry(fx.sleep, async () => selectWalletOfPair(fx.db, merchantId, pair));
  return rows.ok ? ok(rows.value[0]?.id) : rows;
}

/** Null for a direct wallet. */
async function readStanding(fx: RegisterEffects, target: PayoutTarget): Promise<Result<number | null, Failure>> {
  const { key } = target;
  if (key === null) return ok(null);
  const standing = await readWithRetry(fx.sleep, async () => await fx.standing(key.keyHash));
  return standing.ok ? ok(standing.value.nextIndex) : standing;
}

function newWallet(
  fx: RegisterEffects,
  request: RegisterRequest,
  of: { readonly id: WalletId; readonly target: PayoutTarget; readonly nextIndex: number | null },
): Wallet {
  const { wanted, merchantId } = request;
  const { network, cryptocurrency, address, key } = of.target;
  const payout = { id: of.id, merchantId, cryptocurrency, network: network.name, address, xpub: key?.xpub ?? null };
  return {
    ...payout,
    walletType: wanted.walletType,
    derivationPath: key?.derivationPath ?? null,
    scheme: key?.scheme ?? null,
    keyHash: key?.keyHash ?? null,
    requiredConfirmations: wanted.requiredConfirmations,
    isEnabled: wanted.isEnabled,
    lastUsedIndex: key === null ? null : 0,
    nextIndex: of.nextIndex,
    gap: key === null ? null : 0,
    ...signRow(fx.body.macKeys, walletMacSubject(payout)),
    frozenAtMs: null,
    createdAtMs: fx.nowMs,
    updatedAtMs: fx.nowMs,
    deletedAtMs: null,
  };
}

/** For the merchant to compare with their wallet software: a wrong key is found before it is paid to. */
function firstAddressOf({ key, network }: PayoutTarget): { readonly firstAddress?: string } {
  return key === null ? {} : { firstAddress: addressAt(receiveChain(key, network), 0) };
}
