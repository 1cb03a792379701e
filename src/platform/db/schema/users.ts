import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { PasskeyId, SessionId, UserId } from "../../../lib/ids.ts";
import { CODE_PURPOSES, TOKEN_KINDS } from "../../../lib/link-kinds.ts";

/** Users. An account is only a login; everything else belongs to a merchant (Interface 1). */
export const users = sqliteTable("users", {
  id: text("id").$type<UserId>().primaryKey(),
  /** As the user typed it; `email_key` is the same in lower case and identifies the account. */
  email: text("email").notNull(),
  emailKey: text("email_key").notNull().unique(),
  name: text("name"),
  /** When the user last proved access to the mailbox; null if never. */
  emailVerifiedAtMs: integer("email_verified_at_ms"),
  /** The encrypted TOTP secret. It is a factor only once `totp_enabled_at_ms` is set. */
  totpSecret: text("totp_secret"),
  totpEnabledAtMs: integer("totp_enabled_at_ms"),
  /** The last accepted 30 s step, so that a code works only once. */
  totpLastStep: integer("totp_last_step"),
  emailOtpEnabledAtMs: integer("email_otp_enabled_at_ms"),
  /** When the user became an operator of the deployment; null for everyone else. It gives no role in any team. */
  operatorSinceMs: integer("operator_since_ms"),
  /** This column and the next are unused: `factor_guesses` counts attempts. The previous release still writes them. */
  factorFailures: integer("factor_failures").notNull().default(0),
  factorWindowStartMs: integer("factor_window_start_ms").notNull().default(0),
  createdAtMs: integer("created_at_ms").notNull(),
  updatedAtMs: integer("updated_at_ms").notNull(),
});

/** Signed-in browsers. Only the SHA-256 of the token is stored; sign-in and step-up replace the token. */
export const sessions = sqliteTable(
  "sessions",
  {
    id: text("id").$type<SessionId>().primaryKey(),
    userId: text("user_id").$type<UserId>().notNull(),
    tokenHash: text("token_hash").notNull().unique(),
    state: text("state", { enum: ["ACTIVE", "PENDING_2FA"] }).notNull(),
    signedInWith: text("signed_in_with", { enum: ["EMAIL_CODE", "GOOGLE", "GITHUB", "PASSKEY"] }).notNull(),
    /** The last factor that was given, and when, for step-up. */
    factor: text("factor", { enum: ["EMAIL_CODE", "TOTP", "BACKUP_CODE", "PASSKEY"] }),
    factorAtMs: integer("factor_at_ms"),
    ip: text("ip"),
    userAgent: text("user_agent"),
    createdAtMs: integer("created_at_ms").notNull(),
    lastSeenAtMs: integer("last_seen_at_ms").notNull(),
    revokedAtMs: integer("revoked_at_ms"),
  },
  (t) => [index("sessions_user").on(t.userId, t.createdAtMs), index("sessions_seen").on(t.lastSeenAtMs)],
);

/** Wrong second factors within one window, counted per session, per IP network of a user, and per user (factors/guess-limit.ts). */
export const factorGuesses = sqliteTable(
  "factor_guesses",
  {
    scope: text("scope").primaryKey(),
    failures: integer("failures").notNull(),
    endsAtMs: integer("ends_at_ms").notNull(),
  },
  (t) => [index("factor_guesses_end").on(t.endsAtMs)],
);

/** Emailed codes: stored as an HMAC with a pepper, valid for 10 minutes, 5 tries and one use, in the browser or session that requested them. */
export const emailCodes = sqliteTable(
  "email_codes",
  {
    id: text("id").primaryKey(),
    purpose: text("purpose", { enum: CODE_PURPOSES }).notNull(),
    emailKey: text("email_key").notNull(),
    /** The key for the address's limit (`countedMailboxOf`); null in a row that the previous release wrote. */
    mailbox: text("mailbox"),
    /** As the user typed it; the first sign-in creates the user with it. */
    email: text("email").notNull(),
    /** SHA-256 of the browser's nonce cookie, or the session's id for the other purposes. */
    boundTo: text("bound_to").notNull(),
    mac: text("mac").notNull(),
    macKeyId: text("mac_key_id").notNull(),
    /** An identity to link once the code proves access to the mailbox: JSON `{ provider, subject }`. */
    identity: text("identity"),
    tries: integer("tries").notNull(),
    /** The caller's IP network, if it is known and counted. */
    ip: text("ip"),
    /** The /48 around that network, for IPv6. */
    site: text("site"),
    /** Whether the code counts against the address's limit; it does not if the browser had signed in with the address before. */
    isCounted: integer("is_counted", { mode: "boolean" }).notNull().default(true),
    /** SHA-256 of the browser's proof of an earlier sign-in with the address; such browsers have their own limit. */
    knownBrowser: text("known_browser"),
    createdAtMs: integer("created_at_ms").notNull(),
    expiresAtMs: integer("expires_at_ms").notNull(),
    consumedAtMs: integer("consumed_at_ms"),
  },
  (t) => [
    index("email_codes_mailbox").on(t.mailbox, t.createdAtMs).where(sql`is_counted`),
    index("email_codes_bound").on(t.boundTo, t.purpose, t.emailKey),
    index("email_codes_ip").on(t.ip, t.createdAtMs).where(sql`ip is not null`),
    index("email_codes_site").on(t.site, t.createdAtMs).where(sql`site is not null`),
    index("email_codes_known").on(t.emailKey, t.createdAtMs).where(sql`known_browser is not null`),
    index("email_codes_expiry").on(t.expiresAtMs),
  ],
);

/** Single-use tokens, by their SHA-256: passkey challenges, OAuth states, links in emails. Using a token deletes its row. */
export const singleUseTokens = sqliteTable(
  "single_use_tokens",
  {
    hash: text("hash").primaryKey(),
    kind: text("kind", { enum: TOKEN_KINDS }).notNull(),
    userId: text("user_id").$type<UserId>(),
    sessionId: text("session_id").$type<SessionId>(),
    /** JSON of what the token allows; encrypted if it holds a secret. */
    data: text("data"),
    createdAtMs: integer("created_at_ms").notNull(),
    expiresAtMs: integer("expires_at_ms").notNull(),
  },
  (t) => [index("single_use_tokens_expiry").on(t.expiresAtMs)],
);

/** WebAuthn credentials. */
export const passkeys = sqliteTable(
  "passkeys",
  {
    id: text("id").$type<PasskeyId>().primaryKey(),
    userId: text("user_id").$type<UserId>().notNull(),
    /** The authenticator's credential id, base64url. */
    credentialId: text("credential_id").notNull().unique(),
    /** COSE key, base64url. */
    publicKey: text("public_key").notNull(),
    counter: integer("counter").notNull(),
    /** JSON array of WebAuthn transports. */
    transports: text("transports").notNull(),
    name: text("name").notNull(),
    isBackedUp: integer("is_backed_up", { mode: "boolean" }).notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    lastUsedAtMs: integer("last_used_at_ms"),
  },
  (t) => [index("passkeys_user").on(t.userId)],
);

/** Linked accounts at sign-in providers. An identity is (provider, subject), never an email. */
export const identities = sqliteTable(
  "identities",
  {
    provider: text("provider", { enum: ["google", "github"] }).notNull(),
    subject: text("subject").notNull(),
    userId: text("user_id").$type<UserId>().notNull(),
    /** The account's email address at the provider, for display only. */
    email: text("email"),
    createdAtMs: integer("created_at_ms").notNull(),
    lastUsedAtMs: integer("last_used_at_ms"),
  },
  (t) => [primaryKey({ columns: [t.provider, t.subject] }), index("identities_user").on(t.userId)],
);

/** Backup codes, as HMACs with a pepper. A used code keeps its row. */
export const backupCodes = sqliteTable(
  "backup_codes",
  {
    userId: text("user_id").$type<UserId>().notNull(),
    mac: text("mac").notNull(),
    macKeyId: text("mac_key_id").notNull(),
    usedAtMs: integer("used_at_ms"),
  },
  (t) => [primaryKey({ columns: [t.userId, t.mac] })],
);
