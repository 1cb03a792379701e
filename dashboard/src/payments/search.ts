import { chosen, searchText, type WithCursor } from "../shell/search-text.ts";
import { isListedStatus, type ListedStatus } from "./status.tsx";

export interface PaymentsSearch extends WithCursor {
  /** By default, payments that need a decision. */
  readonly status?: ListedStatus | undefined;
  readonly network?: string | undefined;
  readonly txHash?: string | undefined;
}

/** Ignores unknown values. */
export function paymentsSearch(given: Readonly<Record<string, unknown>>): PaymentsSearch {
  const { status, network, txHash, cursor } = given;
  return chosen({
    status: isListedStatus(status) ? status : undefined,
    network: searchText(network),
    txHash: searchText(txHash),
    cursor: searchText(cursor),
  });
}
