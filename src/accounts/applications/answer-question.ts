// Makes the key that an application has asked for. Each question is answered once. The key expires if it is not used, because its secret was sent to
// another party's page, which may have lost it.
import { HOUR_MS } from "../../lib/time.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Work } from "../../platform/idempotency/run-once.ts";
import type { KeyDependencies } from "../api-keys/change-api-key.ts";
import { createApiKey } from "../api-keys/create-api-key.ts";
import { keyPermissionsOfRights, type Right } from "./rights.ts";
import { assertUnanswered, selectAnswered } from "./store.ts";

const USED_WITHIN_MS = HOUR_MS;

interface Answer {
  /** The name of the question, from its token. */
  readonly question: string;
  readonly application: string;
  /** The origin of the application; null if the key is shown to the user. */
  readonly givenTo: string | null;
  readonly rights: readonly Right[];
}

/** Answers a question, as work for `runOnce`; the response contains the new key. Fails with AUTHORIZATION_OVER, or like `createApiKey`. */
export function answerQuestion(
  deps: KeyDependencies,
  actor: Parameters<typeof createApiKey>[1],
  { question, application, givenTo, rights }: Answer,
): Work {
  const create = createApiKey(deps, actor, {
    name: application,
    kind: "SECRET",
    permissions: keyPermissionsOfRights(rights),
    asked: { givenTo, rights: JSON.stringify(rights), question, unusedUntilMs: deps.nowMs + USED_WITHIN_MS },
  });
  return async (operationId, conflict, tries) => {
    if (tries > 0) {
      const answered = await readWithRetry(deps.sleep, async () => selectAnswered(deps.db, question));
      if (!answered.ok) return { kind: "refused", failure: answered.error };
      if (answered.value.length > 0) return { kind: "refused", failure: { code: "AUTHORIZATION_OVER" } };
    }
    const prepared = await create(operationId, conflict, tries);
    if (prepared.kind === "refused") return prepared;
    return { ...prepared, statements: [assertUnanswered(deps.db, question), ...prepared.statements] };
  };
}
