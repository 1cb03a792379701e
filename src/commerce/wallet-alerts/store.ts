import { and, eq, gt, sql } from "drizzle-orm";
import type { MerchantId, UserId, WalletId } from "../../lib/ids.ts";
import type { Db } from "../../platform/db/client.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { singleUseTokens, users } from "../../platform/db/schema/users.ts";

interface DisableToken {
  /** SHA-256 of the token. */
  readonly hash: string;
  readonly userId: UserId;
}

/** Stores the tokens of the links that disable a wallet, in one statement however many there are. */
export function insertDisableTokens(
  db: Db,
  tokens: readonly DisableToken[],
  of: {
    readonly merchantId: MerchantId;
    readonly walletId: WalletId;
    readonly nowMs: number;
    readonly expiresAtMs: number;
  },
) {
  const { merchantId, walletId, nowMs, expiresAtMs } = of;
  const data = JSON.stringify({ merchantId, walletId });
  return db.insert(singleUseTokens).select(
    sql`select json_extract(value, '$.hash'), 'WALLET_DISABLE', json_extract(value, '$.userId'), null, ${data}, ${nowMs}, ${expiresAtMs}
      from json_each(${JSON.stringify(tokens.map(({ hash, userId }) => ({ hash, userId })))})`,
  );
}

/** A link works while its holder is an OWNER or ADMIN of the wallet's team. */
const heldBySteward = sql.raw(
  `exists (select 1 from members seat where seat.user_id = single_use_tokens.user_id and seat.role in ('OWNER', 'ADMIN')
    and seat.merchant_id = json_extract(single_use_tokens.data, '$.merchantId'))`,
);

/** An unused, unexpired link and the user who got its email. */
export function selectDisableToken(db: Db, hash: string, nowMs: number) {
  return db
    .select({ userId: users.id, email: users.email, data: singleUseTokens.data })
    .from(singleUseTokens)
    .innerJoin(users, eq(users.id, singleUseTokens.userId))
    .where(
      and(
        eq(singleUseTokens.hash, hash),
        eq(singleUseTokens.kind, "WALLET_DISABLE"),
        gt(singleUseTokens.expiresAtMs, nowMs),
        heldBySteward,
      ),
    )
    .limit(1);
}

/** Uses up the link. Aborts the batch if the link was used before or has expired, or if its holder has left the team or lost the role. */
export function consumeDisableToken(db: Db, hash: string, nowMs: number) {
  return [
    db.insert(assertions).select(
      sql`select 'link is unused', 0 where not exists (select 1 from single_use_tokens
        where hash = ${hash} and kind = 'WALLET_DISABLE' and expires_at_ms > ${nowMs} and ${heldBySteward})`,
    ),
    db.delete(singleUseTokens).where(eq(singleUseTokens.hash, hash)),
  ] as const;
}
