import { type ListQuery, pageToRead } from "../../lib/pagination.ts";
import type { Db } from "../../platform/db/client.ts";
import { countMembers, selectMemberPage, selectTeam } from "./store.ts";

/** Reads the page and, if the response has page numbers, the count. */
export function memberPageReads(db: Db, merchantId: string, query: ListQuery | undefined) {
  const page = pageToRead(query);
  return [selectMemberPage(db, merchantId, page), countMembers(db, merchantId, page)] as const;
}

export function policyReads(db: Db, merchantId: string) {
  return [selectTeam(db, merchantId)] as const;
}
