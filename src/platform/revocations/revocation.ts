// A copy of a revocation outside the database: after a restore, the import repeats the revocation (docs/operations/restore.md). A copy names rows by
// id and the columns that changed, and holds no secrets, only hashes. Sessions need no copy, because an import ends all of them.

/** What is revoked or narrowed. Each kind is a table, or a part of its rows. */
export const REVOCATION_KINDS = [
  /** A key was deleted, rotated, or given different limits; the copy holds its new columns. */
  "API_KEY",
  /** A member was removed, or got a different role. */
  "MEMBER_REMOVED",
  "MEMBER_ROLE",
  "INVITATION",
  /** A wallet was deleted, switched on or off, or frozen; the copy holds its new columns. */
  "WALLET",
  /** A merchant was deleted, suspended or resumed; the copy holds its new columns. */
  "MERCHANT",
  "OPERATOR",
  "PASSKEY",
  "TOTP",
  /** All backup codes of a user were replaced or deleted. */
  "BACKUP_CODES",
  "IDENTITY",
] as const;
type RevocationKind = (typeof REVOCATION_KINDS)[number];

/** Columns by their names in the table. */
export type RevokedColumns = Readonly<Record<string, string | number | null>>;

export interface Revocation {
  /** The merchant, or the user whose account is concerned; the owner's object keeps the copy. */
  readonly owner: string;
  readonly kind: RevocationKind;
  /** The row's id. */
  readonly target: string;
  readonly columns: RevokedColumns;
}

export type NewRevocation = Omit<Revocation, "owner">;

export interface KeptRevocation extends NewRevocation {
  /** The copy's position in the order in which copies were kept. */
  readonly place: number;
  readonly atMs: number;
}

/** The methods of a merchant object's stub that keep and return copies. */
export interface RevocationsRpc {
  keepRevocations(revocations: readonly NewRevocation[], nowMs: number): Promise<void>;
  revocationsSince(sinceMs: number, after: number, limit: number): Promise<readonly KeptRevocation[]>;
}
