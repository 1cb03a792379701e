import { and, desc, eq, gt, inArray, isNull, lt, sql } from "drizzle-orm";
import type { CallerNetwork } from "../../lib/ip-network.ts";
import type { Db } from "../../platform/db/client.ts";
import { assertions } from "../../platform/db/schema/operations.ts";
import { emailCodes, sessions, singleUseTokens, users } from "../../platform/db/schema/users.ts";
import { FORGOTTEN_A_PASS } from "../sessions/store.ts";
import { type CodePurpose, MAX_TRIES } from "./email-code.ts";
import {
  ADDRESS_WINDOW_MS,
  MAIL_WINDOW_MS,
  MAILS_FOR_KNOWN_BROWSERS,
  MAILS_PER_ADDRESS,
  MAILS_PER_CALLER,
  MAILS_PER_KNOWN_BROWSER,
  MAILS_TO_ADDRESS,
} from "./mail-limit.ts";

/** At most this many of an account's sessions are read to find the networks from which it signed in. */
const MOST_SIGN_INS = 50;

export type EmailCodeRow = typeof emailCodes.$inferSelect;

/** A network whose codes are counted: the caller's own (`ip`), or the /48 around it (`site`). */
export interface CountedCaller extends CallerNetwork {
  readonly kind: "ip" | "site";
}

const ofCaller = ({ kind, network }: CountedCaller, purpose: CodePurpose, nowMs: number) =>
  sql`${sql.raw(kind)} = ${network} and purpose = ${purpose} and created_at_ms > ${nowMs - MAIL_WINDOW_MS}`;

/** The codes that were emailed for a caller in the last hour, newest first. */
export function selectSentCodes(
  db: Db,
  caller: CountedCaller,
  { purpose, nowMs }: { readonly purpose: CodePurpose; readonly nowMs: number },
) {
  return db
    .select({ mailbox: emailCodes.mailbox, createdAtMs: emailCodes.createdAtMs })
    .from(emailCodes)
    .where(ofCaller(caller, purpose, nowMs))
    .orderBy(desc(emailCodes.createdAtMs))
    .limit(MAILS_PER_CALLER * caller.times);
}

const toAddress = (mailbox: string, nowMs: number) =>
  sql`mailbox = ${mailbox} and is_counted and purpose = 'SIGN_IN' and created_at_ms > ${nowMs - ADDRESS_WINDOW_MS}`;

/** The times of the counted sign-in codes that were emailed to a mailbox in the last day, newest first. */
export function selectCodesToAddress(db: Db, { mailbox, nowMs }: { readonly mailbox: string; readonly nowMs: number }) {
  return db
    .select({ createdAtMs: emailCodes.createdAtMs })
    .from(emailCodes)
    .where(toAddress(mailbox, nowMs))
    .orderBy(desc(emailCodes.createdAtMs))
    .limit(MAILS_TO_ADDRESS);
}

/** Aborts the batch if the address has reached its daily limit in the meantime. */
export function assertAddressAllowed(db: Db, of: { readonly mailbox: string; readonly nowMs: number }) {
  return db.insert(assertions).select(
    sql`select 'mails to the address are within their limit', 0
      where (select count(*) from email_codes where ${toAddress(of.mailbox, of.nowMs)}) >= ${MAILS_TO_ADDRESS}`,
  );
}

/** Aborts the batch if this caller has reached a limit in the meantime. */
export function assertMailAllowed(
  db: Db,
  caller: CountedCaller,
  of: { readonly purpose: CodePurpose; readonly mailbox: string; readonly nowMs: number },
) {
  const sent = sql`select count(*) from email_codes where ${ofCaller(caller, of.purpose, of.nowMs)}`;
  return db.insert(assertions).select(
    sql`select 'mails are within their limit', 0 where (${sent}) >= ${MAILS_PER_CALLER * caller.times}
      or (${sent} and mailbox = ${of.mailbox}) >= ${MAILS_PER_ADDRESS[of.purpose] * caller.times}`,
  );
}

/** The IP addresses from which the account with this email has signed in, newest first; empty if there is no account. */
export function selectSignInAddresses(db: Db, emailKey: string) {
  return db
    .select({ ip: sessions.ip })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(users.emailKey, emailKey))
    .orderBy(desc(sessions.createdAtMs))
    .limit(MOST_SIGN_INS);
}

const forKnown = (emailKey: string, nowMs: number) =>
  sql`email_key = ${emailKey} and known_browser is not null and created_at_ms > ${nowMs - MAIL_WINDOW_MS}`;

/** The codes that known browsers requested for an address in the last hour, newest first. */
export function selectCodesForKnown(
  db: Db,
  { emailKey, nowMs }: { readonly emailKey: string; readonly nowMs: number },
) {
  return db
    .select({ knownBrowser: emailCodes.knownBrowser, createdAtMs: emailCodes.createdAtMs })
    .from(emailCodes)
    .where(forKnown(emailKey, nowMs))
    .orderBy(desc(emailCodes.createdAtMs))
    .limit(MAILS_FOR_KNOWN_BROWSERS);
}

/** Aborts the batch if a known browser, or all known browsers of the address, have reached their hourly limit in the meantime. */
export function assertKnownAllowed(
  db: Db,
  of: { readonly browser: string; readonly emailKey: string; readonly nowMs: number },
) {
  const sent = sql`select count(*) from email_codes where ${forKnown(of.emailKey, of.nowMs)}`;
  return db.insert(assertions).select(
    sql`select 'mails for known browsers are within their limit', 0 where (${sent}) >= ${MAILS_FOR_KNOWN_BROWSERS}
      or (${sent} and known_browser = ${of.browser}) >= ${MAILS_PER_KNOWN_BROWSER}`,
  );
}

export function insertEmailCode(db: Db, code: EmailCodeRow) {
  return db.insert(emailCodes).values(code);
}

export function selectEmailCode(db: Db, id: string) {
  return db
    .select({ id: emailCodes.id, consumedAtMs: emailCodes.consumedAtMs })
    .from(emailCodes)
    .where(eq(emailCodes.id, id))
    .limit(1);
}

/** Ends the codes that a new one replaces. Their rows stay, because they count against the limit. */
export function endEmailCodes(
  db: Db,
  of: {
    readonly boundTo: readonly string[];
    readonly purpose: CodePurpose;
    readonly emailKey: string;
    readonly nowMs: number;
  },
) {
  return db
    .update(emailCodes)
    .set({ consumedAtMs: of.nowMs })
    .where(
      and(
        inArray(emailCodes.boundTo, [...of.boundTo]),
        eq(emailCodes.purpose, of.purpose),
        eq(emailCodes.emailKey, of.emailKey),
        isNull(emailCodes.consumedAtMs),
      ),
    );
}

/** Counts a try against the live code of this browser or session and returns its row; no row if no live code has tries left. */
export function countTry(
  db: Db,
  of: {
    readonly purpose: CodePurpose;
    readonly emailKey: string;
    readonly boundTo: string;
    readonly nowMs: number;
  },
) {
  return db
    .update(emailCodes)
    .set({ tries: sql`${emailCodes.tries} + 1` })
    .where(
      and(
        eq(emailCodes.boundTo, of.boundTo),
        eq(emailCodes.purpose, of.purpose),
        eq(emailCodes.emailKey, of.emailKey),
        isNull(emailCodes.consumedAtMs),
        gt(emailCodes.expiresAtMs, of.nowMs),
        lt(emailCodes.tries, MAX_TRIES),
      ),
    )
    .returning();
}

/** Uses the code up; aborts the batch if it was already used. */
export function consumeEmailCode(db: Db, id: string, nowMs: number) {
  return [
    db.insert(assertions).select(
      sql`select 'code is unused', 0 where not exists (
        select 1 from email_codes where id = ${id} and consumed_at_ms is null)`,
    ),
    db.update(emailCodes).set({ consumedAtMs: nowMs }).where(eq(emailCodes.id, id)),
  ] as const;
}

/** Deletes a limited number of codes that expired before `beforeMs`, oldest first. */
export function forgetEmailCodes(db: Db, beforeMs: number) {
  const old = db
    .select({ id: emailCodes.id })
    .from(emailCodes)
    .where(lt(emailCodes.expiresAtMs, beforeMs))
    .orderBy(emailCodes.expiresAtMs)
    .limit(FORGOTTEN_A_PASS);
  return db.delete(emailCodes).where(inArray(emailCodes.id, old));
}

/** Deletes a limited number of tokens that expired before `beforeMs`, oldest first. */
export function forgetSingleUseTokens(db: Db, beforeMs: number) {
  const old = db
    .select({ hash: singleUseTokens.hash })
    .from(singleUseTokens)
    .where(lt(singleUseTokens.expiresAtMs, beforeMs))
    .orderBy(singleUseTokens.expiresAtMs)
    .limit(FORGOTTEN_A_PASS);
  return db.delete(singleUseTokens).where(inArray(singleUseTokens.hash, old));
}
