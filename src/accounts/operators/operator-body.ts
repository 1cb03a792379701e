import type { UserId } from "../../lib/ids.ts";
import { MAX_LIMIT } from "../../lib/pagination.ts";
import { isoTime } from "../../lib/time.ts";

/** A user who runs the deployment. */
export interface Operator {
  readonly id: UserId;
  readonly email: string;
  readonly name: string | null;
  readonly sinceMs: number;
}

export function operatorBodyOf({ id, email, name, sinceMs }: Operator) {
  return { id, email, name, operatorSince: isoTime(sinceMs) };
}

/** All operators on one page: a deployment has few. */
export function operatorListOf(operators: readonly Operator[]) {
  const pagination = { page: 1, limit: MAX_LIMIT, total: operators.length, lastPage: 1 };
  return { data: operators.map(operatorBodyOf), nextCursor: null, pagination };
}
