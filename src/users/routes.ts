import type { MountedRoute } from "../auth/middleware.ts";
import { jsonReply, type Reply } from "../http/reply.ts";
import { noBody, noQuery } from "../http/route.ts";
import { ok } from "../lib/result.ts";
import { accountEffects } from "../sessions/effects.ts";
import { personRoute } from "../sessions/middleware.ts";
import type { Session } from "../sessions/session.ts";
import { type Account, accountBodyOf } from "./account-body.ts";
import { meBody, updateMeBody } from "./contract.ts";
import type { Person } from "./person.ts";
import { accountReads, updatePerson } from "./update-person.ts";

const ME = "/api/v1/me";
const mine = {
  path: ME,
  tag: "My account",
  callers: "PERSON",
  permission: null,
  isForPublicKeys: false,
  isIdempotent: false,
  query: noQuery,
  answers: [{ status: 200, description: "Who is signed in", schema: meBody }],
  refusals: [],
} as const;

const me = personRoute({
  spec: { ...mine, method: "GET", operationId: "getMe", summary: "Read your own account", body: noBody },
  effects: accountEffects,
  reads: ({ db, tokenHash }) => accountReads(db, tokenHash),
  answer: async (call) => ok(reply(call.principal, call.read[0], call.nowMs)),
});

const update = personRoute({
  spec: { ...mine, method: "PATCH", operationId: "updateMe", summary: "Change your name", body: updateMeBody },
  effects: accountEffects,
  reads: ({ db, tokenHash }) => accountReads(db, tokenHash),
  answer: async (call) => {
    const { person, session } = call.principal;
    const updated = await updatePerson(call.fx, { person, name: call.body.name, trail: call.trail });
    return updated.ok ? ok(reply({ person: updated.value, session }, call.read[0], call.nowMs)) : updated;
  },
});

export const meRoutes: readonly MountedRoute[] = [me, update];

function reply(
  { person, session }: { readonly person: Person; readonly session: Session },
  [account]: readonly Account[],
  nowMs: number,
): Reply {
  if (account === undefined) throw new Error(`the account ${person.id} is gone while it is read`);
  return jsonReply(200, accountBodyOf(person, session, account, nowMs));
}
