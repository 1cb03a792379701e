import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Every key that the deployment has had in a keyring since rotations have been recorded. No secret is in plain text. */
export const deploymentKeys = sqliteTable(
  "deployment_keys",
  {
    keyring: text("keyring", {
      enum: ["ROW_MAC_KEY", "CODE_PEPPER", "SECRETS_AES_KEY", "SIGNING_KEY", "API_KEY_MAC_KEY"],
    }).notNull(),
    keyId: text("key_id").notNull(),
    /** Detects a different key under the same id, whose rows would all look altered. */
    fingerprint: text("fingerprint").notNull(),
    /**
     * What is still needed after the key has been removed: for SIGNING_KEY the public key (base64url), for CODE_PEPPER the sealed key. Otherwise
     * null.
     */
    kept: text("kept"),
    /** For SIGNING_KEY, an HMAC over the public key and `left_at_ms`, with the id of the HMAC's key; null for other keyrings. */
    mac: text("mac"),
    macKeyId: text("mac_key_id"),
    /** When the key left its keyring. */
    leftAtMs: integer("left_at_ms"),
    /** When the last row stopped depending on the key; null while a row may depend on it, and for the newest key. */
    unusedSinceMs: integer("unused_since_ms"),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.keyring, t.keyId] })],
);

/** The progress of the job that renews rows under the newest keys. */
export const keyWalks = sqliteTable("key_walks", {
  name: text("name").primaryKey(),
  /** The key ids of all keyrings when the walk began; if they change, a new walk starts. */
  keys: text("keys").notNull(),
  /** The kind of rows that the job is reading, and the rowid of the last row that it has read. */
  kind: text("kind").notNull(),
  after: integer("after").notNull(),
  /** JSON object: for each `<keyring> <key id>`, how many rows under that key the job has read in this walk. */
  met: text("met").notNull(),
  beganAtMs: integer("began_at_ms").notNull(),
  /** Null while the walk is running. */
  endedAtMs: integer("ended_at_ms"),
});
