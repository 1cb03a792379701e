import type { ApiKeyRow } from "../auth/store.ts";
import type { Failure } from "../failures.ts";
import { ok, type Result } from "../lib/result.ts";
import { apiKeyFacts } from "./api-key-body.ts";
import { type ChangeOf, changeApiKey, type KeyEffects } from "./change-api-key.ts";

/** Ends a key, both of its secrets while it rotates, with the next request that carries one. The row stays for the audit log's sake. */
export async function deleteApiKey(fx: KeyEffects, of: ChangeOf): Promise<Result<ApiKeyRow, Failure>> {
  return changeApiKey(fx, of, ({ key }) =>
    ok({
      columns: { revokedAtMs: fx.nowMs, previousHash: null, previousExpiresAtMs: null },
      entry: { action: "api_key.deleted", before: apiKeyFacts(key) },
      event: "api_key.deleted",
    }),
  );
}
