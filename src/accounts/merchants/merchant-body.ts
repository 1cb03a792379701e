import { isoTime } from "../../lib/time.ts";
import type { Permission } from "../roles/permissions.ts";
import type { Role } from "../roles/roles.ts";
import type { MissingFactor } from "../security-policies/security-policy.ts";

interface Merchant {
  readonly id: string;
  readonly name: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The caller who reads a merchant, with a member's role (null for an API key) and the required factors that the member lacks. */
interface Viewer {
  readonly role: Role | null;
  readonly permissions: Iterable<Permission>;
  readonly missing: readonly MissingFactor[];
}

/** A merchant in the format of the API, for one of its members or keys (decisions 10). */
export function merchantBodyOf(merchant: Merchant, { role, permissions, missing }: Viewer) {
  const { id, name, createdAtMs, updatedAtMs } = merchant;
  const times = { createdAt: isoTime(createdAtMs), updatedAt: isoTime(updatedAtMs) };
  return { id, name, role, missing, permissions: [...permissions], ...times };
}
