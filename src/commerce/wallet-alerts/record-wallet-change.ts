// Reports a change to a wallet. The event, the audit entry and the tokens of the links are part of the change's batch; the emails are sent after the
// batch has committed.

import { countNotice, forgetNotices, isMailedNow } from "../../accounts/notices/store.ts";
import { newToken } from "../../accounts/sessions/open-session.ts";
import type { User } from "../../accounts/users/user.ts";
import { sha256Hex } from "../../lib/bytes.ts";
import { derivedId } from "../../lib/ids.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Write } from "../../platform/db/statement.ts";
import { recordEvent } from "../../platform/events/store.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { postAll } from "../../platform/mail/post-all.ts";
import { isWalletIntact } from "../wallet-records/wallet.ts";
import { type WalletBodyContext, walletBodyOf } from "../wallet-records/wallet-body.ts";
import type { WalletEvents } from "../wallet-records/wallet-events.ts";
import { fingerprintOf, walletFacts } from "../wallet-records/wallet-facts.ts";
import {
  type Audience,
  alertMail,
  isMailOnly,
  LINK_LIFETIME_MS,
  noticeKindOf,
  type ReportedChange,
  type Steward,
} from "./alert.ts";
import { insertDisableTokens } from "./store.ts";

export interface ReportDependencies {
  readonly db: Db;
  readonly nowMs: number;
  readonly body: WalletBodyContext;
  readonly mailer: Mailer;
  readonly publicUrl: string;
  readonly trail: Trail;
  readonly audience: Audience;
}

/**
 * The recipients of the email about this caller's change. Each has a token for a link of their own; there is no link if the caller is an API key or
 * has a factor besides email.
 */
export function readersOf(stewards: readonly Steward[], author: User | undefined): Audience["readers"] {
  const isLinked = author !== undefined && isMailOnly(author);
  return stewards.map((steward) => ({ ...steward, token: isLinked ? newToken() : null }));
}

/**
 * The statements that go with a change to a wallet's row. `sendWalletMails` reads the result of the last statement. Audit entry 0 of the operation
 * marks the batch as committed.
 */
export function recordWalletChange(
  deps: ReportDependencies,
  change: ReportedChange,
  operationId: string,
): readonly Write[] {
  const { db, nowMs } = deps;
  const { action, before, after } = change;
  const wallet = after ?? before;
  if (wallet === undefined) throw new Error("a change of no wallet");
  const { id: walletId, merchantId } = wallet;
  const fingerprint = after === undefined ? null : fingerprintOf(after);
  const previousFingerprint = before === undefined ? null : fingerprintOf(before);
  const shown = walletBodyOf(wallet, deps.body);
  const data = { walletId, wallet: shown, fingerprint, previousFingerprint } satisfies WalletEvents["wallet.updated"];
  const event = {
    id: derivedId("evt", operationId),
    merchantId,
    type: action === "wallet.disabled_by_link" ? "wallet.updated" : action,
    data,
    createdAtMs: nowMs,
  } as const;
  const entry = {
    id: derivedId("aud", operationId),
    merchantId,
    action,
    target: walletId,
    ...factsOf(change),
  } as const;
  return [
    ...recordEvent(db, event),
    insertAudit(db, deps.trail, entry, nowMs),
    ...tokensOf(deps, change),
    ...noticesOf(deps, change),
  ];
}

/** A registered wallet has a new row, so the entry has only the fingerprint of the wallet that it replaces. */
function factsOf({ action, before, after }: ReportedChange) {
  if (action !== "wallet.created" || after === undefined)
    return { before: before && walletFacts(before), after: after && walletFacts(after) };
  return {
    after: { ...walletFacts(after), previousFingerprint: before === undefined ? null : fingerprintOf(before) },
  };
}

function tokensOf(deps: ReportDependencies, { after }: ReportedChange): readonly Write[] {
  const tokens = deps.audience.readers.flatMap(({ userId, token }) =>
    token === null ? [] : [{ hash: sha256Hex(token), userId }],
  );
  if (after === undefined || tokens.length === 0) return [];
  const { id: walletId, merchantId } = after;
  const expiresAtMs = deps.nowMs + LINK_LIFETIME_MS;
  return [insertDisableTokens(deps.db, tokens, { merchantId, walletId, nowMs: deps.nowMs, expiresAtMs })];
}

/**
 * Counts successive changes to settings, whose emails are combined. Disabling with a link clears the count, so that the next change is emailed at
 * once.
 */
function noticesOf({ db, nowMs, audience }: ReportDependencies, change: ReportedChange): readonly Write[] {
  const wallet = change.after ?? change.before;
  if (wallet === undefined) return [];
  const { id: thing, merchantId } = wallet;
  if (change.action === "wallet.disabled_by_link") return [forgetNotices(db, thing)];
  const kind = noticeKindOf(change);
  if (kind === undefined) return [];
  const isLinked = audience.readers.some(({ token }) => token !== null);
  return [countNotice(db, { kind, thing, actor: audience.author, merchantId, isLinked }, nowMs)];
}

/**
 * Sends the emails after the change has committed. Losing an email is harmless, because the event and the audit entry report the change too.
 * `results`: the results of the batch, if known. If they show that the emails of several changes are combined, the cron sends the email later.
 */
export async function sendWalletMails(
  deps: ReportDependencies,
  change: ReportedChange,
  results: readonly unknown[] = [],
): Promise<void> {
  const { audience, publicUrl, nowMs } = deps;
  if (noticeKindOf(change) !== undefined && !isMailedNow(results.at(-1))) return;
  const context = { publicUrl, nowMs, isIntact: (wallet: Parameters<typeof walletFacts>[0]) => isIntact(deps, wallet) };
  await postAll(deps.mailer, "a wallet change", audience.readers, (reader) =>
    alertMail(change, audience, reader, context),
  );
}

function isIntact({ body }: ReportDependencies, wallet: Parameters<typeof isWalletIntact>[1]): boolean {
  return isWalletIntact(body.macKeys, wallet);
}
