import { ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import type { ApiKeyRow } from "../auth/store.ts";
import { apiKeyFacts } from "./api-key-body.ts";
import { type ChangeOf, changeApiKey, type KeyDependencies } from "./change-api-key.ts";

/** Ends a key, both of its secrets while it rotates, with the next request that carries one. The row stays for the audit log's sake. */
export async function deleteApiKey(deps: KeyDependencies, of: ChangeOf): Promise<Result<ApiKeyRow, Failure>> {
  return changeApiKey(deps, of, ({ key }) =>
    ok({
      columns: { revokedAtMs: deps.nowMs, previousHash: null, previousExpiresAtMs: null },
      entry: { action: "api_key.deleted", before: apiKeyFacts(key) },
      event: "api_key.deleted",
    }),
  );
}
