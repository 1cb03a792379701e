import { type ListQuery, pageBody, pageToRead } from "../../lib/pagination.ts";
import type { Result } from "../../lib/result.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Failure } from "../../platform/failures.ts";
import { countMyMerchants, selectMyMerchants } from "../merchant-records/store.ts";
import { ROLE_PERMISSIONS } from "../roles/roles.ts";
import { missingFactors, type SignInProvider } from "../security-policies/security-policy.ts";
import type { User } from "../users/user.ts";
import { merchantBodyOf } from "./merchant-body.ts";

type MerchantQuery = ListQuery & { readonly search?: string | undefined };

/** Reads the page and, if the response has page numbers, the count. Reads nothing for an invalid query. */
export function myMerchantsReads(db: Db, tokenHash: string, query: MerchantQuery | undefined) {
  const page = pageToRead(query);
  const filter = { tokenHash, search: query?.search };
  return [selectMyMerchants(db, { ...filter, page }), countMyMerchants(db, filter, page.page !== undefined)] as const;
}

type MyMerchant = Awaited<ReturnType<typeof selectMyMerchants>>[number];

/** A user's merchants, the newest membership first, including those whose security policy they do not meet (decisions 9). */
export function listMerchants(
  read: { readonly rows: readonly MyMerchant[]; readonly total: number },
  query: ListQuery,
  of: { readonly user: User; readonly configured: ReadonlySet<SignInProvider> },
): Result<object, Failure> {
  return pageBody(read, query, ({ role, merchant, team }) => {
    if (merchant === null || team === null) throw new Error("a member of no merchant, or of one without a team");
    const missing = missingFactors(team, of.user, of.configured);
    return merchantBodyOf(merchant, { role, permissions: ROLE_PERMISSIONS[role], missing });
  });
}
