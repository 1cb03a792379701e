import type { Statements } from "../auth/authenticate.ts";
import { type MerchantCall, type MountedRoute, merchantRoute } from "../auth/middleware.ts";
import type { Failure } from "../failures.ts";
import type { Reply } from "../http/reply.ts";
import { noBody, noQuery } from "../http/route.ts";
import { answerOnce } from "../idempotency/middleware.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { textStream } from "../lib/text-stream.ts";
import type { Steward } from "../wallet-alerts/alert.ts";
import { readersOf } from "../wallet-alerts/record-news.ts";
import {
  addressesQuery,
  addressListBody,
  recoveryBody,
  recoveryQuery,
  registeredWalletBody,
  registerWalletBody,
  updateWalletBody,
  walletBody,
  walletListBody,
} from "./contract.ts";
import { deleteWallet } from "./delete-wallet.ts";
import { walletEffects } from "./effects.ts";
import { exportRecovery, type Recovery } from "./export-recovery.ts";
import { freezeAltered, isAltered } from "./freeze-wallet.ts";
import { changeReads, registerReads, walletListReads, walletReads } from "./read-wallet.ts";
import { type RecoveryFormat, recoveryFormat, recoveryHead, recoveryRows, recoveryTail } from "./recovery-file.ts";
import { type RegisterEffects, registerWallet } from "./register-wallet.ts";
import { WALLET_FIELDS } from "./secret-material.ts";
import { previewAddresses } from "./stored-key.ts";
import { updateWallet } from "./update-wallet.ts";
import type { Wallet } from "./wallet.ts";
import { walletBodyOf } from "./wallet-body.ts";

const BASE = "/api/v1/merchants/merchant/:merchantId/wallets";
const ONE = `${BASE}/:walletId`;

const register = merchantRoute({
  spec: {
    method: "POST",
    path: BASE,
    operationId: "registerWallet",
    tag: "Wallets",
    summary: "Register a receiving wallet",
    description:
      "One wallet for each pair of cryptocurrency and network. Never send a private key or a recovery phrase.",
    callers: "MEMBER_OR_KEY",
    permission: "wallet:create",
    needsStepUp: true,
    isForPublicKeys: false,
    isIdempotent: true,
    body: registerWalletBody,
    query: noQuery,
    answers: [{ status: 201, description: "The wallet", schema: registeredWalletBody }],
    refusals: [
      "UNSUPPORTED_PAIR",
      "INVALID_ADDRESS",
      "XPUB_NOT_SUPPORTED",
      "INVALID_XPUB",
      "DERIVATION_PATH_MISMATCH",
      "PRIVATE_KEY_REFUSED",
      "WALLET_EXISTS",
    ],
  },
  secrets: WALLET_FIELDS,
  effects: walletEffects,
  reads: ({ db, merchantId, request }) => registerReads(db, merchantId, request?.body),
  answer: async (call) => {
    const [[same], stewards, [replaced]] = call.read;
    const { id: merchantId, walletChangeDelayHours: changeDelayHours } = call.merchant;
    const pair = { sameId: same?.id, replaced };
    const request = { merchantId, changeDelayHours, wanted: call.body, pair };
    return answerOnce(call, registerWallet(changing(call, stewards), request));
  },
});

const list = merchantRoute({
  spec: {
    method: "GET",
    path: BASE,
    operationId: "listWallets",
    tag: "Wallets",
    summary: "List the wallets, oldest first",
    description: "A plain array: a merchant has one wallet for each pair.",
    callers: "MEMBER_OR_KEY",
    permission: "wallet:view",
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 200, description: "All wallets", schema: walletListBody }],
    refusals: [],
  },
  secrets: WALLET_FIELDS,
  effects: walletEffects,
  reads: ({ db, merchantId }) => walletListReads(db, merchantId),
  answer: async (call) => {
    const [wallets] = call.read;
    const { fx } = call;
    watchOver(call, wallets);
    return json(wallets.map((wallet) => walletBodyOf(wallet, fx.body)));
  },
});

const get = merchantRoute({
  spec: {
    method: "GET",
    path: ONE,
    operationId: "getWallet",
    tag: "Wallets",
    summary: "Read a wallet",
    callers: "MEMBER_OR_KEY",
    permission: "wallet:view",
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 200, description: "The wallet", schema: walletBody }],
    refusals: ["WALLET_NOT_FOUND"],
  },
  secrets: WALLET_FIELDS,
  effects: walletEffects,
  reads: ({ db, merchantId, params }) => walletReads(db, merchantId, params.walletId),
  answer: async (call) => {
    const found = walletRead(call, call.read[0]);
    return found.ok ? json(walletBodyOf(found.value, call.fx.body)) : found;
  },
});

const update = merchantRoute({
  spec: {
    method: "PATCH",
    path: ONE,
    operationId: "updateWallet",
    tag: "Wallets",
    summary: "Enable or disable a wallet, or change its confirmations",
    description: "Address, key and path never change: disable, delete and register anew to rotate.",
    callers: "MEMBER_OR_KEY",
    permission: "wallet:update",
    needsStepUp: true,
    isForPublicKeys: false,
    isIdempotent: false,
    body: updateWalletBody,
    query: noQuery,
    answers: [{ status: 200, description: "The wallet as it now is", schema: walletBody }],
    refusals: ["WALLET_NOT_FOUND", "WALLET_FROZEN", "PRIVATE_KEY_REFUSED", "CONTENTION"],
  },
  secrets: WALLET_FIELDS,
  effects: walletEffects,
  reads: ({ db, merchantId, params }) => changeReads(db, merchantId, params.walletId),
  answer: async (call) => {
    const [rows, stewards] = call.read;
    const found = walletRead(call, rows);
    if (!found.ok) return found;
    const { id: walletId, merchantId } = found.value;
    const { walletChangeDelayHours: changeDelayHours } = call.merchant;
    const of = { merchantId, walletId, read: found.value, changeDelayHours };
    const changed = await updateWallet(changing(call, stewards), of, call.body);
    return changed.ok ? json(walletBodyOf(changed.value, call.fx.body)) : changed;
  },
});

const remove = merchantRoute({
  spec: {
    method: "DELETE",
    path: ONE,
    operationId: "deleteWallet",
    tag: "Wallets",
    summary: "Delete a wallet that no active invoice pays to",
    callers: "MEMBER_OR_KEY",
    permission: "wallet:delete",
    needsStepUp: true,
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 200, description: "The wallet as it was", schema: walletBody }],
    refusals: ["WALLET_NOT_FOUND", "WALLET_HAS_ACTIVE_PAYMENTS", "CONTENTION"],
  },
  secrets: WALLET_FIELDS,
  effects: walletEffects,
  reads: ({ db, merchantId, params }) => changeReads(db, merchantId, params.walletId),
  answer: async (call) => {
    const [rows, stewards] = call.read;
    const found = walletRead(call, rows);
    if (!found.ok) return found;
    const { id: walletId, merchantId } = found.value;
    const deleted = await deleteWallet(changing(call, stewards), { merchantId, walletId, read: found.value });
    return deleted.ok ? json(walletBodyOf(deleted.value, call.fx.body)) : deleted;
  },
});

const addresses = merchantRoute({
  spec: {
    method: "GET",
    path: `${ONE}/addresses`,
    operationId: "previewAddresses",
    tag: "Wallets",
    summary: "Preview addresses of an extended key without spending an index",
    callers: "MEMBER_OR_KEY",
    permission: "wallet:view",
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: addressesQuery,
    answers: [{ status: 200, description: "Addresses with index and path", schema: addressListBody }],
    refusals: ["WALLET_NOT_FOUND", "WALLET_IS_NOT_XPUB", "WALLET_FROZEN"],
  },
  secrets: WALLET_FIELDS,
  effects: walletEffects,
  reads: ({ db, merchantId, params }) => walletReads(db, merchantId, params.walletId),
  answer: async (call) => {
    const found = walletRead(call, call.read[0]);
    if (!found.ok) return found;
    const data = previewAddresses(found.value, call.fx.body.macKeys, call.query);
    return data.ok ? json({ data: data.value }) : data;
  },
});

const recovery = merchantRoute({
  spec: {
    method: "GET",
    path: `${ONE}/recovery`,
    operationId: "exportRecovery",
    tag: "Wallets",
    summary: "Export what wallet software needs to find every payment",
    callers: "MEMBER_OR_KEY",
    permission: "wallet:view",
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: recoveryQuery,
    answers: [
      { status: 200, description: "Descriptor, gap limit and addresses", schema: recoveryBody, alsoAs: "text/csv" },
    ],
    refusals: ["WALLET_NOT_FOUND", "WALLET_IS_NOT_XPUB", "WALLET_FROZEN"],
  },
  secrets: WALLET_FIELDS,
  effects: walletEffects,
  reads: ({ db, merchantId, params }) => walletReads(db, merchantId, params.walletId),
  answer: async (call) => {
    const found = walletRead(call, call.read[0]);
    if (!found.ok) return found;
    const { fx } = call;
    const exported = await exportRecovery({ ...fx, macKeys: fx.body.macKeys }, found.value);
    if (!exported.ok) return exported;
    const format = recoveryFormat(call.query.format, call.accept);
    const body = textStream(recoveryTexts(format, exported.value));
    return ok({ status: 200, body, headers: recoveryHeaders(format, found.value) });
  },
});

type WalletWorld = ReturnType<typeof walletEffects>;

export const walletRoutes: readonly MountedRoute[] = [register, list, get, update, remove, addresses, recovery];

async function* recoveryTexts(format: RecoveryFormat, { summary, pages }: Recovery): AsyncGenerator<string> {
  yield recoveryHead(format, summary);
  let isFirst = true;
  for await (const page of pages) {
    yield recoveryRows(format, page, isFirst);
    isFirst &&= page.length === 0;
  }
  yield recoveryTail(format);
}

function recoveryHeaders(format: RecoveryFormat, wallet: Wallet): Record<string, string> {
  if (format === "json") return { vary: "accept" };
  return {
    vary: "accept",
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": `attachment; filename="${wallet.id}-recovery.csv"`,
  };
}

/** The world of a call that changes a wallet: with who does it, and who is told. */
function changing<B, Q, R extends Statements>(
  call: MerchantCall<B, Q, R, WalletWorld>,
  stewards: readonly Steward[],
): RegisterEffects {
  const { fx, trail, principal, merchant } = call;
  const person = principal.kind === "USER" ? principal.person : undefined;
  const author = person === undefined ? `the API key ${trail.actor.id}` : person.email;
  const audience = { merchantName: merchant.name, author, readers: readersOf(stewards, person) };
  return { ...fx, trail, audience, seat: principal.kind === "USER" ? principal : undefined };
}

/** The wallet that was read; a row that was altered is frozen behind the answer. */
function walletRead<B, Q, R extends Statements>(
  call: MerchantCall<B, Q, R, WalletWorld>,
  rows: readonly Wallet[],
): Result<Wallet, Failure> {
  const [wallet] = rows;
  if (wallet === undefined) return err({ code: "WALLET_NOT_FOUND" });
  watchOver(call, [wallet]);
  return ok(wallet);
}

function watchOver<B, Q, R extends Statements>(
  call: MerchantCall<B, Q, R, WalletWorld>,
  wallets: readonly Wallet[],
): void {
  const { macKeys } = call.fx.body;
  const altered = wallets.filter((wallet) => isAltered(macKeys, wallet));
  if (altered.length > 0) call.background(freezeAltered({ ...call.fx, macKeys }, altered));
}

function json(body: object): Result<Reply, Failure> {
  return ok({ status: 200, body: JSON.stringify(body) });
}
