// The search parameters of an endpoint's page: the filter and the page of its deliveries.
import type { Delivery } from "../api/operations.ts";
import { chosen, searchText, type WithCursor } from "../shell/search-text.ts";

type Status = Delivery["status"];

export interface EndpointSearch extends WithCursor {
  readonly status?: Status | undefined;
}

const STATES: readonly Status[] = ["PENDING", "SUCCEEDED", "FAILED"];

export function endpointSearch({ status, cursor }: Readonly<Record<string, unknown>>): EndpointSearch {
  return chosen({ status: STATES.find((each) => each === status), cursor: searchText(cursor) });
}
