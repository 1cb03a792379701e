import { ok } from "../../lib/result.ts";
import { emptyReplyTo, replyTo } from "../../platform/http/reply.ts";
import { signedInBody } from "../email-codes/contract.ts";
import { type MountedRoute, routesOf } from "../pipeline/routes-of.ts";
import { sessionReply } from "../pipeline/session-reply.ts";
import { askFactor } from "./ask-factor.ts";
import { changeEmailOtp } from "./change-email-otp.ts";
import { askedBody, proofBody } from "./contract.ts";
import { factorDependencies } from "./dependencies.ts";
import type { FactorPurpose } from "./factor-proof.ts";
import { settleFactor } from "./settle-factor.ts";

const AUTH = "/api/v1/auth";
interface Words {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
}

/** The two routes for one purpose: one lists the factors, the other accepts one. */
function startAndVerify(of: {
  readonly purpose: FactorPurpose;
  readonly path: string;
  readonly start: Words;
  readonly verify: Words;
  readonly mayOweFactor?: true;
}) {
  const { purpose, path, mayOweFactor } = of;
  const open = mayOweFactor === undefined ? {} : { mayOweFactor };
  return routesOf({ tag: "Sign-in", callers: "USER", dependencies: factorDependencies })
    .post(`${path}/start`, {
      ...of.start,
      ...open,
      answers: [{ status: 202, description: "The factors that can be used", schema: askedBody }],
      answer: async (call) => {
        const { principal, trail } = call;
        return replyTo(await askFactor(call.deps, { principal, purpose, ip: trail.ip }), (value) => value, 202);
      },
    })
    .post(`${path}/verify`, {
      ...of.verify,
      ...open,
      body: proofBody,
      answers: [
        { status: 200, description: "The factor was accepted; the session has a new cookie", schema: signedInBody },
      ],
      refusals: ["INVALID_CODE", "PASSKEY_REFUSED", "FACTOR_NOT_AVAILABLE", "TOO_MANY_ATTEMPTS"],
      answer: async (call) => {
        const { principal, trail } = call;
        const settled = await settleFactor(call.deps, { principal, purpose, proof: call.body, trail });
        return settled.ok ? ok(sessionReply(call.env, settled.value)) : settled;
      },
    });
}

const LIMIT =
  "After 10 wrong factors in 15 minutes, the session accepts no further attempts until the 15 minutes are over.";

const secondFactor = startAndVerify({
  purpose: "SECOND_FACTOR",
  path: `${AUTH}/second-factor`,
  mayOweFactor: true,
  start: {
    operationId: "startSecondFactor",
    summary: "List the second factors that complete a sign-in",
    description: "Mails a code if mailed codes are among them.",
  },
  verify: {
    operationId: "verifySecondFactor",
    summary: "Complete a sign-in with a second factor",
    description: `Each code works once. ${LIMIT}`,
  },
});

const stepUp = startAndVerify({
  purpose: "STEP_UP",
  path: `${AUTH}/step-up`,
  start: {
    operationId: "startStepUp",
    summary: "List the factors for a step-up",
    description:
      "A user with a passkey or an authenticator app must use one of these. A code is mailed only to other users.",
  },
  verify: {
    operationId: "verifyStepUp",
    summary: "Confirm your identity again (step-up)",
    description: `For the next 5 minutes the session may make protected changes. Each code works once. ${LIMIT}`,
  },
});

const EMAIL_OTP = "/api/v1/me/email-otp";

const emailOtp = routesOf({ tag: "My account", callers: "USER", dependencies: factorDependencies, needsStepUp: true })
  .post(EMAIL_OTP, {
    operationId: "enableEmailOtp",
    summary: "Switch on mailed codes as a second factor",
    description:
      "Every sign-in except with a passkey then needs a second factor, and a mailed code is enough. This satisfies teams that require a second factor.",
    answers: [{ status: 204, description: "Mailed codes are on" }],
    answer: async ({ deps, principal: { user }, trail }) => {
      return emptyReplyTo(await changeEmailOtp(deps, { user, isOn: true, trail }));
    },
  })
  .delete(EMAIL_OTP, {
    operationId: "disableEmailOtp",
    summary: "Switch off mailed codes as a second factor",
    answers: [{ status: 204, description: "Mailed codes are off" }],
    answer: async ({ deps, principal: { user }, trail }) => {
      return emptyReplyTo(await changeEmailOtp(deps, { user, isOn: false, trail }));
    },
  });

export const factorRoutes: readonly MountedRoute[] = [...secondFactor, ...stepUp, ...emailOtp];
