// A change of a wallet, told to everybody who must know: the event and the audit entry in its batch, with the tokens of the links; the mails
// once the batch stands.
import type { BatchItem } from "drizzle-orm/batch";
import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Db } from "../db/client.ts";
import { recordEvent } from "../events/store.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { derivedId } from "../lib/ids.ts";
import type { Mailer } from "../mail/mail.ts";
import { newToken } from "../sessions/open-session.ts";
import type { Person } from "../users/person.ts";
import { isWalletIntact } from "../wallets/wallet.ts";
import { type WalletBodyContext, walletBodyOf } from "../wallets/wallet-body.ts";
import { fingerprintOf, walletFacts } from "../wallets/wallet-facts.ts";
import { type Audience, alertMail, isMailOnly, LINK_LIFETIME_MS, type Steward, type WalletNews } from "./alert.ts";
import { insertDisableTokens } from "./store.ts";

export interface NewsEffects {
  readonly db: Db;
  readonly nowMs: number;
  readonly body: WalletBodyContext;
  readonly mailer: Mailer;
  readonly publicUrl: string;
  readonly trail: Trail;
  readonly audience: Audience;
}

/** Who is told of what this caller changes. Each link has a token of its own; a caller with a better factor than mail needs none. */
export function readersOf(stewards: readonly Steward[], author: Person | undefined): Audience["readers"] {
  const isLinked = author !== undefined && isMailOnly(author);
  return stewards.map((steward) => ({ ...steward, token: isLinked ? newToken() : null }));
}

/** The rows of a change beside the wallet's own. Its event `evt` 0 of the operation tells whether they stand. */
export function recordNews(fx: NewsEffects, news: WalletNews, operationId: string): readonly BatchItem<"sqlite">[] {
  const { db, nowMs } = fx;
  const { action, before, after } = news;
  const wallet = after ?? before;
  if (wallet === undefined) throw new Error("a change of no wallet");
  const { id: walletId, merchantId } = wallet;
  const fingerprint = after === undefined ? null : fingerprintOf(after);
  const previousFingerprint = before === undefined ? null : fingerprintOf(before);
  const data = { walletId, wallet: walletBodyOf(wallet, fx.body), fingerprint, previousFingerprint };
  const event = {
    id: derivedId("evt", operationId),
    merchantId,
    type: action === "wallet.disabled_by_link" ? "wallet.updated" : action,
    data,
    createdAtMs: nowMs,
  } as const;
  const entry = { id: derivedId("aud", operationId), merchantId, action, target: walletId, ...factsOf(news) } as const;
  return [...recordEvent(db, event), insertAudit(db, fx.trail, entry, nowMs), ...tokensOf(fx, news)];
}

/** The wallet that a registered one replaces is another row: the entry only names it. */
function factsOf({ action, before, after }: WalletNews) {
  if (action !== "wallet.created" || after === undefined)
    return { before: before && walletFacts(before), after: after && walletFacts(after) };
  return {
    after: { ...walletFacts(after), previousFingerprint: before === undefined ? null : fingerprintOf(before) },
  };
}

function tokensOf(fx: NewsEffects, { after }: WalletNews): readonly BatchItem<"sqlite">[] {
  const tokens = fx.audience.readers.flatMap(({ userId, token }) =>
    token === null ? [] : [{ hash: sha256Hex(token), userId }],
  );
  if (after === undefined || tokens.length === 0) return [];
  const { id: walletId, merchantId } = after;
  const expiresAtMs = fx.nowMs + LINK_LIFETIME_MS;
  return [insertDisableTokens(fx.db, tokens, { merchantId, walletId, nowMs: fx.nowMs, expiresAtMs })];
}

/** Mails the news, once the change stands. It stands whatever becomes of a mail; event and entry tell of it too. */
export async function sendNews(fx: NewsEffects, news: WalletNews): Promise<void> {
  const { audience, publicUrl, nowMs } = fx;
  const context = { publicUrl, nowMs, isIntact: (wallet: Parameters<typeof walletFacts>[0]) => isIntact(fx, wallet) };
  const posted = await Promise.allSettled(
    audience.readers.map(async (reader) => fx.mailer.post(alertMail(news, audience, reader, context))),
  );
  const lost = posted.filter(({ status }) => status === "rejected").length;
  if (lost > 0) console.error(JSON.stringify({ level: "error", alert: "mails about a wallet were lost", lost }));
}

function isIntact({ body }: NewsEffects, wallet: Parameters<typeof isWalletIntact>[1]): boolean {
  return isWalletIntact(body.macKeys, wallet);
}
