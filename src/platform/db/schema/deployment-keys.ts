import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Every key that the deployment has had in a keyring since rotations were first recorded; no secret in plain text. */
export const deploymentKeys = sqliteTable(
  "deployment_keys",
  {
    keyring: text("keyring", {
      enum: ["ROW_MAC_KEY", "CODE_PEPPER", "SECRETS_AES_KEY", "SIGNING_KEY", "API_KEY_MAC_KEY"],
    }).notNull(),
    keyId: text("key_id").notNull(),
    /** Detects a different key under the same id, whose rows would all look altered. */
    fingerprint: text("fingerprint").notNull(),
    /** What outlives the key: for SIGNING_KEY the public key (base64url), for CODE_PEPPER the key itself, sealed. Otherwise null. */
    kept: text("kept"),
    /** HMAC over the public key and `left_at_ms`, with the id of its key; null for other keyrings. */
    mac: text("mac"),
    macKeyId: text("mac_key_id"),
    /** Since when it is in no keyring. */
    leftAtMs: integer("left_at_ms"),
    /** Since when no row depends on it; null while one may, and for the newest key. */
    unusedSinceMs: integer("unused_since_ms"),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.keyring, t.keyId] })],
);

/** How far the job that renews rows under the newest keys has come. */
export const keyWalks = sqliteTable("key_walks", {
  name: text("name").primaryKey(),
  /** The key ids of all keyrings when the walk began; if they change, a new walk starts. */
  keys: text("keys").notNull(),
  /** The kind of rows that it is reading, and the rowid of the last one read. */
  kind: text("kind").notNull(),
  after: integer("after").notNull(),
  /** JSON: `<keyring> <key id>` to how many rows under it the walk has met. */
  met: text("met").notNull(),
  beganAtMs: integer("began_at_ms").notNull(),
  /** Null while it is running. */
  endedAtMs: integer("ended_at_ms"),
});
