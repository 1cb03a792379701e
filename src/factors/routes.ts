import type { MountedRoute } from "../auth/middleware.ts";
import { emptyReply, jsonReply } from "../http/reply.ts";
import { noBody, noQuery } from "../http/route.ts";
import { ok } from "../lib/result.ts";
import { personRoute, sessionReply } from "../sessions/middleware.ts";
import { signedInBody } from "../sign-in/contract.ts";
import { askFactor } from "./ask-factor.ts";
import { changeEmailOtp } from "./change-email-otp.ts";
import { askedBody, proofBody } from "./contract.ts";
import { factorEffects } from "./effects.ts";
import type { FactorPurpose } from "./factor-proof.ts";
import { settleFactor } from "./settle-factor.ts";

const AUTH = "/api/v1/auth";
const common = {
  method: "POST",
  tag: "Sign-in",
  callers: "PERSON",
  permission: null,
  isForPublicKeys: false,
  isIdempotent: false,
  query: noQuery,
} as const;

/** The two routes of one purpose: what can be given, and giving it. */
function startAndVerify(of: {
  readonly purpose: FactorPurpose;
  readonly path: string;
  readonly start: { readonly operationId: string; readonly summary: string; readonly description: string };
  readonly verify: { readonly operationId: string; readonly summary: string; readonly description: string };
  readonly mayOweFactor?: true;
}): readonly MountedRoute[] {
  const { purpose, path, mayOweFactor } = of;
  const open = mayOweFactor === undefined ? {} : { mayOweFactor };
  const start = personRoute({
    ...open,
    spec: {
      ...common,
      ...of.start,
      path: `${path}/start`,
      body: noBody,
      answers: [{ status: 202, description: "What can be given", schema: askedBody }],
      refusals: [],
    },
    effects: factorEffects,
    reads: () => [],
    answer: async (call) => {
      const { principal, trail } = call;
      const asked = await askFactor(call.fx, { principal, purpose, ip: trail.ip });
      return asked.ok ? ok(jsonReply(202, asked.value)) : asked;
    },
  });
  const verify = personRoute({
    ...open,
    spec: {
      ...common,
      ...of.verify,
      path: `${path}/verify`,
      body: proofBody,
      answers: [{ status: 200, description: "It counts; the session has a new cookie", schema: signedInBody }],
      refusals: ["INVALID_CODE", "PASSKEY_REFUSED", "FACTOR_NOT_AVAILABLE", "TOO_MANY_ATTEMPTS"],
    },
    effects: factorEffects,
    reads: () => [],
    answer: async (call) => {
      const { principal, trail } = call;
      const settled = await settleFactor(call.fx, { principal, purpose, proof: call.body, trail });
      return settled.ok ? ok(sessionReply(call.env, settled.value)) : settled;
    },
  });
  return [start, verify];
}

const LIMIT = "After 10 wrong ones in 15 minutes no more is checked until they are over.";

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

const emailOtp = {
  ...common,
  path: "/api/v1/me/email-otp",
  tag: "My account",
  needsStepUp: true,
  body: noBody,
  refusals: [],
} as const;

const enableEmailOtp = personRoute({
  spec: {
    ...emailOtp,
    operationId: "enableEmailOtp",
    summary: "Ask for a mailed code at every sign-in",
    description: "A second factor for whoever has no authenticator app; it satisfies a team that demands one.",
    answers: [{ status: 204, description: "It is on" }],
  },
  effects: factorEffects,
  reads: () => [],
  answer: async ({ fx, principal: { person }, trail }) => {
    const changed = await changeEmailOtp(fx, { person, isOn: true, trail });
    return changed.ok ? ok(emptyReply()) : changed;
  },
});

const disableEmailOtp = personRoute({
  spec: {
    ...emailOtp,
    method: "DELETE",
    operationId: "disableEmailOtp",
    summary: "Stop asking for a mailed code at sign-in",
    answers: [{ status: 204, description: "It is off" }],
  },
  effects: factorEffects,
  reads: () => [],
  answer: async ({ fx, principal: { person }, trail }) => {
    const changed = await changeEmailOtp(fx, { person, isOn: false, trail });
    return changed.ok ? ok(emptyReply()) : changed;
  },
});

export const factorRoutes: readonly MountedRoute[] = [...secondFactor, ...stepUp, enableEmailOtp, disableEmailOtp];
