// What the address of an endpoint carries: which of its deliveries are listed.
import type { Delivery } from "../api/operations.ts";

type Status = Delivery["status"];

export interface EndpointSearch {
  readonly status?: Status;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string;
}

const STATUSES: readonly Status[] = ["PENDING", "SUCCEEDED", "FAILED"];

export function endpointSearch({ status, cursor }: Readonly<Record<string, unknown>>): EndpointSearch {
  const known = STATUSES.find((each) => each === status);
  return {
    ...(known === undefined ? {} : { status: known }),
    ...(typeof cursor === "string" || typeof cursor === "number" ? { cursor: String(cursor) } : {}),
  };
}
