import { err, ok, type Result } from "../../lib/result.ts";
import { changedFacts } from "../../platform/audit/entry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { ApiKeyRow } from "../auth/store.ts";
import { checkWeakening, type Watch } from "../protections/check-weakening.ts";
import { apiKeyFacts } from "./api-key-body.ts";
import { type ChangeOf, changeApiKey, type KeyDependencies, overreach } from "./change-api-key.ts";
import { jsonOrNull } from "./create-api-key.ts";

/** The fields of a PATCH (decisions 8). A field that is left out keeps its value; null for `allowedIps` allows any address. */
interface KeyUpdate {
  readonly name?: string | undefined;
  readonly allowedIps?: readonly string[] | null | undefined;
}

/** Two concurrent changes are both applied. Writes nothing if nothing changes. Allowing more addresses weakens a protection (`checkWeakening`). */
export async function updateApiKeyFields(
  deps: KeyDependencies,
  of: ChangeOf & { readonly watch: Watch },
  update: KeyUpdate,
): Promise<Result<ApiKeyRow, Failure>> {
  return changeApiKey(deps, of, ({ key, seat }) => {
    const failure = overreach(key, seat.role);
    if (failure !== undefined) return err(failure);
    const allowedIps = update.allowedIps === undefined ? key.allowedIps : jsonOrNull(update.allowedIps);
    const columns = { name: update.name ?? key.name, allowedIps };
    const facts = changedFacts(apiKeyFacts(key), apiKeyFacts({ ...key, ...columns }));
    if (Object.keys(facts.after).length === 0) return ok(undefined);
    const watch = { ...of.watch, place: `the API key ${key.display} of ${of.watch.place}` };
    const weighed = checkWeakening(deps, watch, "updateApiKey", facts);
    if (!weighed.ok) return weighed;
    const { facts: said, ...more } = weighed.value;
    return ok({ columns, entry: { action: "api_key.updated", ...said }, ...more });
  });
}
