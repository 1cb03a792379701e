import { err, ok } from "../../lib/result.ts";
import { forgetDeployment } from "../../platform/deployment/read-deployment.ts";
import { replyTo } from "../../platform/http/reply.ts";
import { signedInBody } from "../email-codes/contract.ts";
import { creationOptionsBody } from "../passkeys/contract.ts";
import { routesOf } from "../pipeline/routes-of.ts";
import { sessionReply } from "../pipeline/session-reply.ts";
import { teamDependencies } from "../teams/dependencies.ts";
import { beginSetUp } from "./begin-set-up.ts";
import { beginSetUpBody, redeemBody } from "./contract.ts";
import { useSetUpLink } from "./use-set-up-link.ts";

/** Both routes are served before the set-up, at the request's origin if PUBLIC_URL is empty (src/app/set-up/middleware.ts). */
export const setUpRoutes = routesOf({ tag: "Deployment", callers: "ANYBODY", dependencies: teamDependencies })
  .post("/api/v1/setup/options", {
    operationId: "beginSetUp",
    summary: "Start to redeem a set-up link",
    description:
      "Returns the options for `navigator.credentials.create`. Anyone who can deploy can create the link with `npm run setup-link`. It works once, within 24 hours.",
    body: beginSetUpBody,
    answers: [{ status: 200, description: "Options, valid for 5 minutes", schema: creationOptionsBody }],
    refusals: ["SETUP_LINK_INVALID", "VALIDATION_FAILED", "STORAGE_UNAVAILABLE"],
    answer: async (call) => {
      if (call.deps.publicUrl === "") return err({ code: "ORIGIN_NOT_ALLOWED" });
      return replyTo(await beginSetUp(call.deps, call.body));
    },
  })
  .post("/api/v1/setup", {
    operationId: "redeemSetUpLink",
    summary: "Redeem a set-up link: become an operator with a passkey",
    description:
      "Send the result of `navigator.credentials.create`. The user with this email address becomes an operator and gets the passkey; if there is no such user, an account is created. The session's cookie is set. If `PUBLIC_URL` is empty, links and passkeys use this origin from now on.",
    body: redeemBody,
    answers: [{ status: 200, description: "Signed in as an operator", schema: signedInBody }],
    refusals: [
      "SETUP_LINK_INVALID",
      "PASSKEY_REFUSED",
      "PASSKEY_EXISTS",
      "VALIDATION_FAILED",
      "STORAGE_UNAVAILABLE",
      "CONTENTION",
    ],
    answer: async (call) => {
      if (call.deps.publicUrl === "") return err({ code: "ORIGIN_NOT_ALLOWED" });
      const { ip, userAgent, requestId } = call;
      const oldToken = call.cookie("session");
      const signedIn = await useSetUpLink(call.deps, { ...call.body, oldToken, ip, userAgent, requestId });
      if (!signedIn.ok) return signedIn;
      forgetDeployment(call.env);
      return ok(sessionReply(call.env, signedIn.value));
    },
  });
