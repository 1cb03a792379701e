// Registers a wallet: checks the address or key, reads the key's next index from its allocator, then commits one batch with the event and, through
// `runOnce`, the exact response (Interface 4.1, decisions 3).

import { seatHeld } from "../../accounts/teams/check-seat.ts";
import { type MerchantId, makeId, type WalletId } from "../../lib/ids.ts";
import { ok, type Result } from "../../lib/result.ts";
import { batch } from "../../platform/db/batch.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import { recordWalletChange, sendWalletMails } from "../wallet-alerts/record-wallet-change.ts";
import { signRow } from "../wallet-records/row-mac.ts";
import { insertWallet, selectReplacedWallet, selectWalletOfPair } from "../wallet-records/store.ts";
import { usableFrom, type Wallet, walletMacSubject } from "../wallet-records/wallet.ts";
import { walletBodyOf } from "../wallet-records/wallet-body.ts";
import type { WalletDependencies } from "./change-wallet.ts";
import { addressAt, receiveChain } from "./derive-address.ts";
import { type NewWallet, type PayoutTarget, payoutTarget } from "./payout-target.ts";

export interface RegisterDependencies extends WalletDependencies {
  /** The next index in a key's allocator; 0 for a new key. */
  nextIndex(keyHash: string): Promise<{ readonly nextIndex: number }>;
  /** Whether the deployment serves a private chain of this name. */
  hasRegtest(network: string): boolean;
}

interface RegisterRequest {
  readonly merchantId: MerchantId;
  readonly wanted: NewWallet;
  /** The merchant's setting `walletChangeDelayHours`. */
  readonly changeDelayHours: number;
  /** The pair's live and previous wallets, as read together with the caller. */
  readonly pair: PairFacts;
}

interface PairFacts {
  /** The pair's live wallet. */
  readonly sameId: WalletId | undefined;
  /** The pair's previous wallet, already deleted. */
  readonly replaced: Wallet | undefined;
}

/** Registers one wallet, as work for `runOnce`. */
export function registerWallet(deps: RegisterDependencies, request: RegisterRequest): Work {
  return async (operationId, conflict, tries): Promise<Prepared> => {
    const id = makeId("wal", operationId);
    const target = payoutTarget(request.wanted, deps.hasRegtest);
    if (!target.ok) return { kind: "refused", failure: target.error };
    // The only assertion is about the caller's seat. When the caller retries, the pipeline refuses with the reason.
    if (conflict?.kind === "assertion") return { kind: "refused", failure: { code: "CONTENTION" } };
    throwUnlessContention("a registration", conflict);
    const pair = tries === 0 ? ok(request.pair) : await readPair(deps, request.merchantId, target.value);
    if (!pair.ok) return { kind: "refused", failure: pair.error };
    const { sameId, replaced } = pair.value;
    // An earlier batch of this operation may have committed: then this one aborts on its id, and the stored response is returned.
    if (sameId !== undefined && sameId !== id) {
      return { kind: "refused", failure: { code: "WALLET_EXISTS", walletId: sameId } };
    }
    const nextIndex = await readNextIndex(deps, target.value);
    if (!nextIndex.ok) return { kind: "refused", failure: nextIndex.error };
    const wallet = newWallet(deps, request, { id, target: target.value, nextIndex: nextIndex.value });
    const change = { action: "wallet.created", before: replaced, after: wallet } as const;
    return {
      kind: "ready",
      status: 201,
      body: JSON.stringify({ ...walletBodyOf(wallet, deps.body), ...firstAddressOf(target.value) }),
      statements: [
        ...seatHeld(deps, deps.seat),
        insertWallet(deps.db, wallet),
        ...recordWalletChange(deps, change, operationId),
      ],
      afterwards: () => sendWalletMails(deps, change),
    };
  };
}

/** The pair's wallets after another registration won the race; that wallet may already be deleted again. */
async function readPair(
  deps: RegisterDependencies,
  merchantId: MerchantId,
  target: PayoutTarget,
): Promise<Result<PairFacts, Failure>> {
  const { cryptocurrency, network } = target;
  const pair = { cryptocurrency, network: network.name };
  const rows = await readWithRetry(deps.sleep, async () =>
    batch(deps.db, [selectWalletOfPair(deps.db, merchantId, pair), selectReplacedWallet(deps.db, merchantId, pair)]),
  );
  if (!rows.ok) return rows;
  const [[same], [replaced]] = rows.value;
  return ok({ sameId: same?.id, replaced });
}

/** Null for a direct wallet. */
async function readNextIndex(
  deps: RegisterDependencies,
  target: PayoutTarget,
): Promise<Result<number | null, Failure>> {
  const { key } = target;
  if (key === null) return ok(null);
  const answer = await readWithRetry(deps.sleep, async () => await deps.nextIndex(key.keyHash));
  return answer.ok ? ok(answer.value.nextIndex) : answer;
}

function newWallet(
  deps: RegisterDependencies,
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
    ...signRow(deps.body.macKeys, walletMacSubject(payout)),
    frozenAtMs: null,
    usableFromMs: usableFrom({ nowMs: deps.nowMs, delayHours: request.changeDelayHours, beforeMs: 0 }),
    createdAtMs: deps.nowMs,
    updatedAtMs: deps.nowMs,
    deletedAtMs: null,
  };
}

/** The merchant compares this address with their wallet software, so that a wrong key is found before it receives a payment. */
function firstAddressOf({ key, network }: PayoutTarget): { readonly firstAddress?: string } {
  return key === null ? {} : { firstAddress: addressAt(receiveChain(key, network), 0) };
}
