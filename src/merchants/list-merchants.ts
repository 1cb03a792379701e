import type { Db } from "../db/client.ts";
import { pageOf, pageRequest } from "../lib/pagination.ts";
import type { Result } from "../lib/result.ts";
import { missingFactors, type SignInProvider } from "../teams/security-policy.ts";
import type { Person } from "../users/person.ts";
import { merchantBodyOf } from "./merchant-body.ts";
import { countMyMerchants, selectMyMerchants } from "./store.ts";

export interface ListQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly page?: number | undefined;
  readonly search?: string | undefined;
}

/** The page and, where the answer must carry it, the count. A query that is not valid reads nothing. */
export function myMerchantsReads(db: Db, tokenHash: string, query: ListQuery | undefined) {
  const asked = pageRequest(query ?? {});
  const isValid = query !== undefined && asked.ok;
  const page = asked.ok ? asked.value : { limit: 0, offset: 0, after: undefined, page: undefined };
  const filter = { tokenHash, search: query?.search };
  return [
    selectMyMerchants(db, { ...filter, page, limit: isValid ? page.limit + 1 : 0 }),
    countMyMerchants(db, filter, isValid && page.page !== undefined),
  ] as const;
}

type MyMerchant = Awaited<ReturnType<typeof selectMyMerchants>>[number];

/** The merchants of a person, the newest of their places first, also those that a team's demands close to them (decisions 9). */
export function listMerchants(
  read: { readonly rows: readonly MyMerchant[]; readonly total: number },
  query: ListQuery,
  of: { readonly person: Person; readonly configured: ReadonlySet<SignInProvider> },
): Result<object, "NOT_A_CURSOR"> {
  const asked = pageRequest(query);
  if (!asked.ok) return asked;
  const { limit, page } = asked.value;
  const { rows, nextCursor } = pageOf(read.rows, limit);
  const data = rows.map(({ role, merchant, team }) => {
    if (merchant === null || team === null) throw new Error("a member of no merchant, or of one without a team");
    return merchantBodyOf(merchant, { role, missing: missingFactors(team, of.person, of.configured) });
  });
  if (page === undefined) return { ok: true, value: { data, nextCursor } };
  const lastPage = Math.max(1, Math.ceil(read.total / limit));
  return { ok: true, value: { data, nextCursor, pagination: { page, limit, total: read.total, lastPage } } };
}
