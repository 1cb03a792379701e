import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { InvitationId, MemberId, MerchantId, UserId } from "../../../lib/ids.ts";

/** The security settings that a team requires of its members; one team per merchant, with the merchant's id (Interface 2.3, 5.6). */
export const teams = sqliteTable("teams", {
  merchantId: text("merchant_id").$type<MerchantId>().primaryKey(),
  enforceTfa: integer("enforce_tfa", { mode: "boolean" }).notNull().default(false),
  enforcePasskey: integer("enforce_passkey", { mode: "boolean" }).notNull().default(false),
  enforceGoogleLogin: integer("enforce_google_login", { mode: "boolean" }).notNull().default(false),
  enforceGithubLogin: integer("enforce_github_login", { mode: "boolean" }).notNull().default(false),
  enforceEmailVerified: integer("enforce_email_verified", { mode: "boolean" }).notNull().default(false),
  updatedAtMs: integer("updated_at_ms").notNull(),
});

/** Members of teams. A merchant has exactly one OWNER: at most one because of the index, at least one because only a transfer changes it. */
export const members = sqliteTable(
  "members",
  {
    id: text("id").$type<MemberId>().primaryKey(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    userId: text("user_id").$type<UserId>().notNull(),
    role: text("role", { enum: ["OWNER", "ADMIN", "MEMBER", "VIEWER"] }).notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    updatedAtMs: integer("updated_at_ms").notNull(),
  },
  (t) => [
    uniqueIndex("members_pair").on(t.merchantId, t.userId),
    uniqueIndex("members_owner").on(t.merchantId).where(sql`role = 'OWNER'`),
    index("members_user").on(t.userId, t.createdAtMs, t.id),
    index("members_listed").on(t.merchantId, t.createdAtMs, t.id),
  ],
);

/** Invitations, with the SHA-256 of the token (Interface 2.3). Pending means neither accepted nor revoked; it may have expired. */
export const invitations = sqliteTable(
  "invitations",
  {
    id: text("id").$type<InvitationId>().primaryKey(),
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    email: text("email").notNull(),
    emailKey: text("email_key").notNull(),
    role: text("role", { enum: ["ADMIN", "MEMBER", "VIEWER"] }).notNull(),
    tokenHash: text("token_hash").notNull().unique(),
    invitedBy: text("invited_by").$type<UserId>().notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    updatedAtMs: integer("updated_at_ms").notNull(),
    expiresAtMs: integer("expires_at_ms").notNull(),
    acceptedAtMs: integer("accepted_at_ms"),
    acceptedBy: text("accepted_by").$type<UserId>(),
    revokedAtMs: integer("revoked_at_ms"),
    /** When the newest email for the invitation was sent; null while that email waits because of a daily limit. */
    mailedAtMs: integer("mailed_at_ms"),
    /** The earliest time for a waiting email; null if no email waits. */
    mailDueAtMs: integer("mail_due_at_ms"),
    /** Whether the email waits because of its mailbox's daily limit. Then it does not delay other emails from its sender. */
    waitsForMailbox: integer("waits_for_mailbox", { mode: "boolean" }).notNull().default(false),
  },
  (t) => [
    uniqueIndex("invitations_pending")
      .on(t.merchantId, t.emailKey)
      .where(sql`accepted_at_ms is null and revoked_at_ms is null`),
    index("invitations_listed").on(t.merchantId, t.createdAtMs, t.id),
    index("invitations_invitee").on(t.emailKey).where(sql`accepted_at_ms is null and revoked_at_ms is null`),
    index("invitations_inviter").on(t.merchantId, t.invitedBy),
    index("invitations_mail_due").on(t.mailDueAtMs).where(sql`mail_due_at_ms is not null`),
    index("invitations_mail_due_of_merchant").on(t.merchantId, t.mailDueAtMs).where(sql`mail_due_at_ms is not null`),
    index("invitations_mail_due_of_inviter").on(t.invitedBy, t.mailDueAtMs).where(sql`mail_due_at_ms is not null`),
    index("invitations_mail_due_of_mailbox").on(t.emailKey, t.mailDueAtMs).where(sql`mail_due_at_ms is not null`),
  ],
);

/** One row per invitation email in the last day, for the daily limits of merchants, users and mailboxes. */
export const invitationMails = sqliteTable(
  "invitation_mails",
  {
    merchantId: text("merchant_id").$type<MerchantId>().notNull(),
    /** The sender. */
    userId: text("user_id").$type<UserId>().notNull(),
    /** The recipient's mailbox (`countedMailboxOf`); null for emails from before this column existed. */
    emailKey: text("email_key"),
    atMs: integer("at_ms").notNull(),
  },
  (t) => [
    index("invitation_mails_mailbox").on(t.emailKey, t.atMs).where(sql`email_key is not null`),
    index("invitation_mails_merchant").on(t.merchantId, t.atMs),
    index("invitation_mails_user").on(t.userId, t.atMs),
    index("invitation_mails_at").on(t.atMs),
  ],
);
