import { ok } from "../../lib/result.ts";
import { jsonReply, type Reply } from "../../platform/http/reply.ts";
import { routesOf } from "../pipeline/routes-of.ts";
import { accountDependencies } from "../sessions/dependencies.ts";
import type { Session } from "../sessions/session.ts";
import type { User } from "../users/user.ts";
import { type Account, accountBodyOf } from "./account-body.ts";
import { meBody, updateMeBody } from "./contract.ts";
import { accountReads, updateUser } from "./update-user.ts";

const ME = "/api/v1/me";

export const meRoutes = routesOf({ tag: "My account", callers: "USER", dependencies: accountDependencies })
  .get(ME, {
    operationId: "getMe",
    summary: "Read your own account",
    answers: [{ status: 200, description: "The signed-in user", schema: meBody }],
    reads: ({ db, tokenHash }) => accountReads(db, tokenHash),
    answer: async (call) => ok(reply(call.principal, call.read[0], call.nowMs)),
  })
  .patch(ME, {
    operationId: "updateMe",
    summary: "Change your name",
    body: updateMeBody,
    answers: [{ status: 200, description: "The changed user", schema: meBody }],
    reads: ({ db, tokenHash }) => accountReads(db, tokenHash),
    answer: async (call) => {
      const { user, session } = call.principal;
      const updated = await updateUser(call.deps, { user, name: call.body.name, trail: call.trail });
      return updated.ok ? ok(reply({ user: updated.value, session }, call.read[0], call.nowMs)) : updated;
    },
  });

function reply(
  { user, session }: { readonly user: User; readonly session: Session },
  [account]: readonly Account[],
  nowMs: number,
): Reply {
  if (account === undefined) throw new Error(`the account ${user.id} disappeared while it was read`);
  return jsonReply(200, accountBodyOf(user, session, account, nowMs));
}
