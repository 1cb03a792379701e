import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { PasskeyId, SessionId, UserId } from "../../../lib/ids.ts";

/** Users. An account is only a login: everything of a merchant hangs on the merchant (Interface 1). */
export const users = sqliteTable("users", {
  id: text("id").$type<UserId>().primaryKey(),
  /** As the user wrote it; `email_key` is the same in lower case and is the account's name. */
  email: text("email").notNull(),
  emailKey: text("email_key").notNull().unique(),
  name: text("name"),
  /** When the mailbox was last proved; null: not yet. */
  emailVerifiedAtMs: integer("email_verified_at_ms"),
  /** The TOTP secret, sealed. It counts as a factor only once `totp_enabled_at_ms` is set. */
  totpSecret: text("totp_secret"),
  totpEnabledAtMs: integer("totp_enabled_at_ms"),
  /** The last accepted step of 30 s: a code works once. */
  totpLastStep: integer("totp_last_step"),
  emailOtpEnabledAtMs: integer("email_otp_enabled_at_ms"),
  /** Both unused: attempts are counted in `factor_guesses`. The release before this one still writes them. */
  factorFailures: integer("factor_failures").notNull().default(0),
  factorWindowStartMs: integer("factor_window_start_ms").notNull().default(0),
  createdAtMs: integer("created_at_ms").notNull(),
  updatedAtMs: integer("updated_at_ms").notNull(),
});

/** Signed-in browsers. Of the token only its SHA-256 is stored, replaced at sign-in and step-up. */
export const sessions = sqliteTable(
  "sessions",
  {
    id: text("id").$type<SessionId>().primaryKey(),
    userId: text("user_id").$type<UserId>().notNull(),
    tokenHash: text("token_hash").notNull().unique(),
    state: text("state", { enum: ["ACTIVE", "PENDING_2FA"] }).notNull(),
    signedInWith: text("signed_in_with", { enum: ["EMAIL_CODE", "GOOGLE", "GITHUB", "PASSKEY"] }).notNull(),
    /** The newest factor given, and when: what step-up asks for. */
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

/** Wrong second factors of one window, by what they are counted on: a session, a network of a user, a user (factors/guess-limit.ts). */
export const factorGuesses = sqliteTable(
  "factor_guesses",
  {
    scope: text("scope").primaryKey(),
    failures: integer("failures").notNull(),
    endsAtMs: integer("ends_at_ms").notNull(),
  },
  (t) => [index("factor_guesses_end").on(t.endsAtMs)],
);

/** Codes sent by mail: an HMAC with a pepper, 10 minutes, 5 tries, one use, bound to the browser or session that asked. */
export const emailCodes = sqliteTable(
  "email_codes",
  {
    id: text("id").primaryKey(),
    purpose: text("purpose", { enum: ["SIGN_IN", "SECOND_FACTOR", "STEP_UP"] }).notNull(),
    emailKey: text("email_key").notNull(),
    /** As it was written: a first sign-in makes the user of it. */
    email: text("email").notNull(),
    /** SHA-256 of the browser's nonce cookie, or the session's id for the other purposes. */
    boundTo: text("bound_to").notNull(),
    mac: text("mac").notNull(),
    macKeyId: text("mac_key_id").notNull(),
    /** An identity that is linked once the mailbox is proved: JSON `{ provider, subject }`. */
    identity: text("identity"),
    tries: integer("tries").notNull(),
    /** The caller's network, where it is known and counted. */
    ip: text("ip"),
    /** The /48 around that network, of IPv6. */
    site: text("site"),
    /** Whether it counts against what the address may be sent: not where the browser had signed in to it before. */
    isCounted: integer("is_counted", { mode: "boolean" }).notNull().default(true),
    /** SHA-256 of the proof by which the browser had signed in to the address before; counted apart from everybody else. */
    knownBrowser: text("known_browser"),
    createdAtMs: integer("created_at_ms").notNull(),
    expiresAtMs: integer("expires_at_ms").notNull(),
    consumedAtMs: integer("consumed_at_ms"),
  },
  (t) => [
    index("email_codes_address").on(t.emailKey, t.createdAtMs).where(sql`is_counted`),
    index("email_codes_bound").on(t.boundTo, t.purpose, t.emailKey),
    index("email_codes_ip").on(t.ip, t.createdAtMs).where(sql`ip is not null`),
    index("email_codes_site").on(t.site, t.createdAtMs).where(sql`site is not null`),
    index("email_codes_known").on(t.emailKey, t.createdAtMs).where(sql`known_browser is not null`),
    index("email_codes_expiry").on(t.expiresAtMs),
  ],
);

/** Tokens that work once, by their SHA-256: challenges of passkeys, states of OAuth, links in mails. Using one deletes it. */
export const singleUseTokens = sqliteTable(
  "single_use_tokens",
  {
    hash: text("hash").primaryKey(),
    kind: text("kind", {
      enum: ["PASSKEY_REGISTRATION", "PASSKEY_SIGN_IN", "PASSKEY_STEP_UP", "OAUTH", "WALLET_DISABLE"],
    }).notNull(),
    userId: text("user_id").$type<UserId>(),
    sessionId: text("session_id").$type<SessionId>(),
    /** What the holder may do with it, JSON; sealed where it holds a secret. */
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
    /** Base64url, as the authenticator named it. */
    credentialId: text("credential_id").notNull().unique(),
    /** COSE key, base64url. */
    publicKey: text("public_key").notNull(),
    counter: integer("counter").notNull(),
    /** JSON array. */
    transports: text("transports").notNull(),
    name: text("name").notNull(),
    isBackedUp: integer("is_backed_up", { mode: "boolean" }).notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    lastUsedAtMs: integer("last_used_at_ms"),
  },
  (t) => [index("passkeys_user").on(t.userId)],
);

/** Linked accounts elsewhere. An identity is (provider, subject), never an email. */
export const identities = sqliteTable(
  "identities",
  {
    provider: text("provider", { enum: ["google", "github"] }).notNull(),
    subject: text("subject").notNull(),
    userId: text("user_id").$type<UserId>().notNull(),
    /** As the provider named it, for people to recognise. */
    email: text("email"),
    createdAtMs: integer("created_at_ms").notNull(),
    lastUsedAtMs: integer("last_used_at_ms"),
  },
  (t) => [primaryKey({ columns: [t.provider, t.subject] }), index("identities_user").on(t.userId)],
);

/** Backup codes, as HMACs with a pepper; a used one keeps its row, so that it is known how many are left. */
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
