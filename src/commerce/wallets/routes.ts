import { delayHoursAt } from "../../accounts/merchants/wallet-change-delay.ts";
import { answerOnce } from "../../accounts/pipeline/answer-once.ts";
import type { MerchantCall } from "../../accounts/pipeline/call.ts";
import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { seatOf } from "../../accounts/teams/check-seat.ts";
import { WALLET_FIELDS } from "../../chains/secrets/secret-material.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { textStream } from "../../lib/text-stream.ts";
import type { Failure } from "../../platform/failures.ts";
import { jsonReply, type Reply, replyTo } from "../../platform/http/reply.ts";
import type { Steward } from "../wallet-alerts/alert.ts";
import { readersOf } from "../wallet-alerts/record-wallet-change.ts";
import type { Wallet } from "../wallet-records/wallet.ts";
import { walletBodyOf } from "../wallet-records/wallet-body.ts";
import { checkNetworks } from "./check-networks.ts";
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
  walletNetworksBody,
} from "./contract.ts";
import { deleteWallet } from "./delete-wallet.ts";
import { walletDependencies } from "./dependencies.ts";
import { exportRecovery, type Recovery } from "./export-recovery.ts";
import { freezeAltered, isAltered } from "./freeze-wallet.ts";
import { changeReads, registerReads, walletListReads, walletReads } from "./read-wallet.ts";
import { type RecoveryFormat, recoveryFormat, recoveryHead, recoveryRows, recoveryTail } from "./recovery-file.ts";
import { type RegisterDependencies, registerWallet } from "./register-wallet.ts";
import { previewAddresses } from "./stored-key.ts";
import { updateWallet } from "./update-wallet.ts";

const BASE = "/api/v1/merchants/merchant/:merchantId/wallets";
const ONE = `${BASE}/:walletId`;

export const walletRoutes = routesOf({
  tag: "Wallets",
  callers: "MEMBER_OR_KEY",
  dependencies: walletDependencies,
  secrets: WALLET_FIELDS,
})
  .post(BASE, {
    operationId: "registerWallet",
    summary: "Register a receiving wallet",
    description:
      "A merchant has one wallet for each pair of cryptocurrency and network. Never send a private key or a recovery phrase.",
    permission: "wallet:create",
    needsStepUp: true,
    isIdempotent: true,
    body: registerWalletBody,
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
    reads: ({ db, merchantId, request }) => registerReads(db, merchantId, request?.body),
    answer: async (call) => {
      const [[same], stewards, [replaced]] = call.read;
      const { id: merchantId } = call.merchant;
      const changeDelayHours = delayHoursAt(call.merchant, call.nowMs);
      const pair = { sameId: same?.id, replaced };
      const request = { merchantId, changeDelayHours, wanted: call.body, pair };
      return answerOnce(call, registerWallet(changing(call, stewards), request));
    },
  })
  .get(BASE, {
    operationId: "listWallets",
    summary: "List the wallets, oldest first",
    description: "Returns a plain array, because a merchant has at most one wallet for each pair.",
    permission: "wallet:view",
    answers: [{ status: 200, description: "All wallets", schema: walletListBody }],
    reads: ({ db, merchantId }) => walletListReads(db, merchantId),
    answer: async (call) => {
      const [wallets] = call.read;
      const { deps } = call;
      watchOver(call, wallets);
      return ok(
        jsonReply(
          200,
          wallets.map((wallet) => walletBodyOf(wallet, deps.body)),
        ),
      );
    },
  })
  .get(ONE, {
    operationId: "getWallet",
    summary: "Read a wallet",
    permission: "wallet:view",
    answers: [{ status: 200, description: "The wallet", schema: walletBody }],
    refusals: ["WALLET_NOT_FOUND"],
    reads: ({ db, merchantId, params }) => walletReads(db, merchantId, params.walletId),
    answer: async (call) => {
      return walletReply(call, walletRead(call, call.read[0]));
    },
  })
  .patch(ONE, {
    operationId: "updateWallet",
    summary: "Enable or disable a wallet, or change its confirmations",
    description:
      "The address, key and path never change. To rotate, disable the wallet, delete it and register a new one.",
    permission: "wallet:update",
    needsStepUp: true,
    body: updateWalletBody,
    answers: [{ status: 200, description: "The updated wallet", schema: walletBody }],
    refusals: ["WALLET_NOT_FOUND", "WALLET_FROZEN", "PRIVATE_KEY_REFUSED", "CONTENTION"],
    reads: ({ db, merchantId, params }) => changeReads(db, merchantId, params.walletId),
    answer: async (call) => {
      const [rows, stewards] = call.read;
      const found = walletRead(call, rows);
      if (!found.ok) return found;
      const { id: walletId, merchantId } = found.value;
      const changeDelayHours = delayHoursAt(call.merchant, call.nowMs);
      const of = { merchantId, walletId, read: found.value, changeDelayHours };
      return walletReply(call, await updateWallet(changing(call, stewards), of, call.body));
    },
  })
  .delete(ONE, {
    operationId: "deleteWallet",
    summary: "Delete a wallet that no active invoice pays to",
    permission: "wallet:delete",
    needsStepUp: true,
    answers: [{ status: 200, description: "The wallet before its deletion", schema: walletBody }],
    refusals: ["WALLET_NOT_FOUND", "WALLET_HAS_ACTIVE_PAYMENTS", "CONTENTION"],
    reads: ({ db, merchantId, params }) => changeReads(db, merchantId, params.walletId),
    answer: async (call) => {
      const [rows, stewards] = call.read;
      const found = walletRead(call, rows);
      if (!found.ok) return found;
      const { id: walletId, merchantId } = found.value;
      const of = { merchantId, walletId, read: found.value };
      return walletReply(call, await deleteWallet(changing(call, stewards), of));
    },
  })
  .get(`${ONE}/addresses`, {
    operationId: "previewAddresses",
    summary: "Preview addresses of an extended key without using an index",
    permission: "wallet:view",
    query: addressesQuery,
    answers: [{ status: 200, description: "Addresses with their indexes and paths", schema: addressListBody }],
    refusals: ["WALLET_NOT_FOUND", "WALLET_IS_NOT_XPUB", "WALLET_FROZEN"],
    reads: ({ db, merchantId, params }) => walletReads(db, merchantId, params.walletId),
    answer: async (call) => {
      const found = walletRead(call, call.read[0]);
      if (!found.ok) return found;
      return replyTo(previewAddresses(found.value, call.deps.body.macKeys, call.query), (data) => ({ data }));
    },
  })
  .get(`${ONE}/networks`, {
    operationId: "checkNetworks",
    summary: "Check on which other networks the address of a wallet may be registered",
    description:
      "Checks for code at the address on every EVM main network, or on every EVM test network if the wallet is on a test network. Code on any of them means that the address is a contract, such as a Safe, which may not exist on the others; then none is FREE. Register each wallet with a separate call. The list is empty for wallets without an EVM address. At most 60 calls an hour.",
    permission: "wallet:create",
    answers: [{ status: 200, description: "Each network, with its coins", schema: walletNetworksBody }],
    refusals: ["WALLET_NOT_FOUND", "WALLET_FROZEN"],
    reads: ({ db, merchantId, params }) => [
      ...walletReads(db, merchantId, params.walletId),
      ...walletListReads(db, merchantId),
    ],
    answer: async (call) => {
      const [rows, live] = call.read;
      const found = walletRead(call, rows);
      if (!found.ok) return found;
      const deps = { ...call.deps, macKeys: call.deps.body.macKeys };
      return replyTo(await checkNetworks(deps, { wallet: found.value, live }));
    },
  })
  .get(`${ONE}/recovery`, {
    operationId: "exportRecovery",
    summary: "Export what wallet software needs to find every payment",
    permission: "wallet:view",
    query: recoveryQuery,
    answers: [
      { status: 200, description: "Descriptor, gap limit and addresses", schema: recoveryBody, alsoAs: "text/csv" },
    ],
    refusals: ["WALLET_NOT_FOUND", "WALLET_IS_NOT_XPUB", "WALLET_FROZEN"],
    reads: ({ db, merchantId, params }) => walletReads(db, merchantId, params.walletId),
    answer: async (call) => {
      const found = walletRead(call, call.read[0]);
      if (!found.ok) return found;
      const { deps } = call;
      const exported = await exportRecovery({ ...deps, macKeys: deps.body.macKeys }, found.value);
      if (!exported.ok) return exported;
      const format = recoveryFormat(call.query.format, call.accept);
      const body = textStream(recoveryTexts(format, exported.value));
      return ok({ status: 200, body, headers: recoveryHeaders(format, found.value) });
    },
  });

type WalletDependencies = ReturnType<typeof walletDependencies>;

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

/** Dependencies of a wallet change, with its author and the recipients of its email. */
function changing(call: MerchantCall<WalletDependencies>, stewards: readonly Steward[]): RegisterDependencies {
  const { deps, trail, principal, merchant } = call;
  const user = principal.kind === "USER" ? principal.user : undefined;
  const author = user === undefined ? `the API key ${trail.actor.id}` : user.email;
  const audience = { merchantName: merchant.name, author, readers: readersOf(stewards, user) };
  return { ...deps, trail, audience, seat: seatOf(principal) };
}

/** The wallet that was read. If its row was altered, it is frozen after the response. */
function walletRead(call: MerchantCall<WalletDependencies>, rows: readonly Wallet[]): Result<Wallet, Failure> {
  const [wallet] = rows;
  if (wallet === undefined) return err({ code: "WALLET_NOT_FOUND" });
  watchOver(call, [wallet]);
  return ok(wallet);
}

function watchOver(call: MerchantCall<WalletDependencies>, wallets: readonly Wallet[]): void {
  const { macKeys } = call.deps.body;
  const altered = wallets.filter((wallet) => isAltered(macKeys, wallet));
  if (altered.length > 0) call.background(freezeAltered({ ...call.deps, macKeys }, altered));
}

function walletReply(call: MerchantCall<WalletDependencies>, done: Result<Wallet, Failure>): Result<Reply, Failure> {
  return replyTo(done, (wallet) => walletBodyOf(wallet, call.deps.body));
}
