import { ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import type { ApiKeyRow } from "../auth/store.ts";
import { apiKeyFacts } from "./api-key-body.ts";
import { type ChangeOf, changeApiKey, type KeyDependencies } from "./change-api-key.ts";

/** Revokes a key and its previous secret, effective with the next request. The row stays for the audit log. */
export async function deleteApiKey(deps: KeyDependencies, of: ChangeOf): Promise<Result<ApiKeyRow, Failure>> {
  return changeApiKey(deps, of, ({ key }) =>
    ok({
      columns: { revokedAtMs: deps.nowMs, previousHash: null, previousExpiresAtMs: null },
      entry: { action: "api_key.deleted", before: apiKeyFacts(key) },
      event: "api_key.deleted",
    }),
  );
}
