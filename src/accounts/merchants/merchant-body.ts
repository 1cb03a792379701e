import { isoTime } from "../../lib/time.ts";
import type { Role } from "../teams/roles.ts";
import type { MissingFactor } from "../teams/security-policy.ts";

export interface Merchant {
  readonly id: string;
  readonly name: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Who reads a merchant: a member with a role, and the demanded factors that they lack; an API key has no role. */
export interface Viewer {
  readonly role: Role | null;
  readonly missing: readonly MissingFactor[];
}

/** A merchant as a member or a key of it sees it (decisions 10). */
export function merchantBodyOf(merchant: Merchant, { role, missing }: Viewer) {
  const { id, name, createdAtMs, updatedAtMs } = merchant;
  return { id, name, role, missing, createdAt: isoTime(createdAtMs), updatedAt: isoTime(updatedAtMs) };
}
