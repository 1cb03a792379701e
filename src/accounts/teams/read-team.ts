import { type ListQuery, pageToRead } from "../../lib/pagination.ts";
import type { Db } from "../../platform/db/client.ts";
import { countMembers, selectMemberPage, selectTeam } from "./store.ts";

/** The page and, where the answer must carry it, the count. */
export function memberPageReads(db: Db, merchantId: string, query: ListQuery | undefined) {
  const page = pageToRead(query);
  return [selectMemberPage(db, merchantId, page), countMembers(db, merchantId, page)] as const;
}

export function policyReads(db: Db, merchantId: string) {
  return [selectTeam(db, merchantId)] as const;
}
