// Reports a change of a wallet: the event and the audit entry in its batch, with the tokens of the links; the mails once the batch has
// committed.

import { countNotice, forgetNotices, isMailedNow } from "../../accounts/notices/store.ts";
import { newToken } from "../../accounts/sessions/open-session.ts";
import type { User } from "../../accounts/users/user.ts";
import { sha256Hex } from "../../lib/bytes.ts";
import { derivedId } from "../../lib/ids.ts";
import { logAlert } from "../../lib/log.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import type { Statement } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { recordEvent } from "../../platform/events/store.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { isWalletIntact } from "../wallets/wallet.ts";
import { type WalletBodyContext, walletBodyOf } from "../wallets/wallet-body.ts";
import type { WalletEvents } from "../wallets/wallet-events.ts";
import { fingerprintOf, walletFacts } from "../wallets/wallet-facts.ts";
import {
  type Audience,
  alertMail,
  isMailOnly,
  LINK_LIFETIME_MS,
  noticeKindOf,
  type Steward,
  type WalletNews,
} from "./alert.ts";
import { insertDisableTokens } from "./store.ts";

export interface NewsDependencies {
  readonly db: Db;
  readonly nowMs: number;
  readonly body: WalletBodyContext;
  readonly mailer: Mailer;
  readonly publicUrl: string;
  readonly trail: Trail;
  readonly audience: Audience;
}

/** Who gets a mail about what this caller changes. Each link has its own token; a caller with a better factor than mail needs no link. */
export function readersOf(stewards: readonly Steward[], author: User | undefined): Audience["readers"] {
  const isLinked = author !== undefined && isMailOnly(author);
  return stewards.map((steward) => ({ ...steward, token: isLinked ? newToken() : null }));
}

/**
 * The statements of a change besides the wallet's own; last of all, the one whose result `sendNews` takes. Audit entry 0 of the operation is
 * the batch's marker.
 */
export function recordNews(deps: NewsDependencies, news: WalletNews, operationId: string): readonly Statement[] {
  const { db, nowMs } = deps;
  const { action, before, after } = news;
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
  const entry = { id: derivedId("aud", operationId), merchantId, action, target: walletId, ...factsOf(news) } as const;
  return [
    ...recordEvent(db, event),
    insertAudit(db, deps.trail, entry, nowMs),
    ...tokensOf(deps, news),
    ...noticesOf(deps, news),
  ];
}

/** The wallet that a registered one replaces is another row: the entry only names it. */
function factsOf({ action, before, after }: WalletNews) {
  if (action !== "wallet.created" || after === undefined)
    return { before: before && walletFacts(before), after: after && walletFacts(after) };
  return {
    after: { ...walletFacts(after), previousFingerprint: before === undefined ? null : fingerprintOf(before) },
  };
}

function tokensOf(deps: NewsDependencies, { after }: WalletNews): readonly Statement[] {
  const tokens = deps.audience.readers.flatMap(({ userId, token }) =>
    token === null ? [] : [{ hash: sha256Hex(token), userId }],
  );
  if (after === undefined || tokens.length === 0) return [];
  const { id: walletId, merchantId } = after;
  const expiresAtMs = deps.nowMs + LINK_LIFETIME_MS;
  return [insertDisableTokens(deps.db, tokens, { merchantId, walletId, nowMs: deps.nowMs, expiresAtMs })];
}

/**
 * Changes of settings that follow each other are counted, to be mailed together. Disabling by a link clears the count, so that any later
 * change is mailed at once.
 */
function noticesOf({ db, nowMs, audience }: NewsDependencies, news: WalletNews): readonly Statement[] {
  const wallet = news.after ?? news.before;
  if (wallet === undefined) return [];
  const { id: thing, merchantId } = wallet;
  if (news.action === "wallet.disabled_by_link") return [forgetNotices(db, thing)];
  const kind = noticeKindOf(news);
  if (kind === undefined) return [];
  const isLinked = audience.readers.some(({ token }) => token !== null);
  return [countNotice(db, { kind, thing, actor: audience.author, merchantId, isLinked }, nowMs)];
}

/**
 * Sends the mails once the change has committed; losing one is harmless, because event and entry report the change too. `results`: of the
 * batch, as far as they are known. Where they say that several changes are to be mailed together, the cron sends the mail.
 */
export async function sendNews(
  deps: NewsDependencies,
  news: WalletNews,
  results: readonly unknown[] = [],
): Promise<void> {
  const { audience, publicUrl, nowMs } = deps;
  if (noticeKindOf(news) !== undefined && !isMailedNow(results.at(-1))) return;
  const context = { publicUrl, nowMs, isIntact: (wallet: Parameters<typeof walletFacts>[0]) => isIntact(deps, wallet) };
  const posted = await Promise.allSettled(
    audience.readers.map(async (reader) => deps.mailer.post(alertMail(news, audience, reader, context))),
  );
  const lost = posted.filter(({ status }) => status === "rejected").length;
  if (lost > 0) logAlert("mails about a wallet were lost", { lost });
}

function isIntact({ body }: NewsDependencies, wallet: Parameters<typeof isWalletIntact>[1]): boolean {
  return isWalletIntact(body.macKeys, wallet);
}
