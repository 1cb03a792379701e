import { ok } from "../../lib/result.ts";
import { emptyReply, jsonReply } from "../../platform/http/reply.ts";
import { type MountedRoute, routesOf } from "../pipeline/routes-of.ts";
import { sessionReply } from "../pipeline/session-reply.ts";
import { signedInBody } from "../sign-in/contract.ts";
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

/** The two routes of one purpose: what can be given, and giving it. */
function startAndVerify(of: {
  readonly purpose: FactorPurpose;
  readonly path: string;
  readonly start: Words;
  readonly verify: Words;
  readonly mayOweFactor?: true;
}) {
  const { purpose, path, mayOweFactor } = of;
  const open = mayOweFactor === undefined ? {} : { mayOweFactor };
  return routesOf({ tag: "Sign-in", callers: "PERSON", dependencies: factorDependencies })
    .post(`${path}/start`, {
      ...of.start,
      ...open,
      answers: [{ status: 202, description: "What can be given", schema: askedBody }],
      answer: async (call) => {
        const { principal, trail } = call;
        const asked = await askFactor(call.deps, { principal, purpose, ip: trail.ip });
        return asked.ok ? ok(jsonReply(202, asked.value)) : asked;
      },
    })
    .post(`${path}/verify`, {
      ...of.verify,
      ...open,
      body: proofBody,
      answers: [{ status: 200, description: "It counts; the session has a new cookie", schema: signedInBody }],
      refusals: ["INVALID_CODE", "PASSKEY_REFUSED", "FACTOR_NOT_AVAILABLE", "TOO_MANY_ATTEMPTS"],
      answer: async (call) => {
        const { principal, trail } = call;
        const settled = await settleFactor(call.deps, { principal, purpose, proof: call.body, trail });
        return settled.ok ? ok(sessionReply(call.env, settled.value)) : settled;
      },
    });
}

const LIMIT = "After 10 wrong ones in 15 minutes no more is checked in the session until they are over.";

const secondFactor = startAndVerify({
  purpose: "SECOND_FACTOR",
  path: `${AUTH}/second-factor`,
  mayOweFactor: true,
  start: {
    operationId: "startSecondFactor",
    summary: "Ask which second factors settle a sign-in",
    description: "Mails a code where mailed codes are one of them.",
  },
  verify: {
    operationId: "verifySecondFactor",
    summary: "Give the second factor that a sign-in owes",
    description: `Each code works once. ${LIMIT}`,
  },
});

const stepUp = startAndVerify({
  purpose: "STEP_UP",
  path: `${AUTH}/step-up`,
  start: {
    operationId: "startStepUp",
    summary: "Ask with which factors to step up",
    description: "Whoever has a passkey or an authenticator app steps up with these; only to others a code is mailed.",
  },
  verify: {
    operationId: "verifyStepUp",
    summary: "Prove again that it is you",
    description: `What is protected is open for 5 minutes from then on. Each code works once. ${LIMIT}`,
  },
});

const EMAIL_OTP = "/api/v1/me/email-otp";

const emailOtp = routesOf({ tag: "My account", callers: "PERSON", dependencies: factorDependencies, needsStepUp: true })
  .post(EMAIL_OTP, {
    operationId: "enableEmailOtp",
    summary: "Ask for a mailed code at every sign-in",
    description: "A second factor for whoever has no authenticator app; it satisfies a team that demands one.",
    answers: [{ status: 204, description: "It is on" }],
    answer: async ({ deps, principal: { user }, trail }) => {
      const changed = await changeEmailOtp(deps, { user, isOn: true, trail });
      return changed.ok ? ok(emptyReply()) : changed;
    },
  })
  .delete(EMAIL_OTP, {
    operationId: "disableEmailOtp",
    summary: "Stop asking for a mailed code at sign-in",
    answers: [{ status: 204, description: "It is off" }],
    answer: async ({ deps, principal: { user }, trail }) => {
      const changed = await changeEmailOtp(deps, { user, isOn: false, trail });
      return changed.ok ? ok(emptyReply()) : changed;
    },
  });

export const factorRoutes: readonly MountedRoute[] = [...secondFactor, ...stepUp, ...emailOtp];
