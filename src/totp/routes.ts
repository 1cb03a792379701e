import type { MountedRoute } from "../auth/middleware.ts";
import { emptyReply, jsonReply } from "../http/reply.ts";
import { noBody, noQuery } from "../http/route.ts";
import { ok } from "../lib/result.ts";
import { personRoute, sessionReply } from "../sessions/middleware.ts";
import { confirmTotp } from "./confirm-totp.ts";
import { backupCodesBody, confirmTotpBody, totpSecretBody } from "./contract.ts";
import { disableTotp } from "./disable-totp.ts";
import { totpEffects } from "./effects.ts";
import { enrolTotp } from "./enrol-totp.ts";
import { replaceBackupCodes } from "./replace-backup-codes.ts";

const TOTP = "/api/v1/me/totp";
const common = {
  tag: "My account",
  callers: "PERSON",
  permission: null,
  needsStepUp: true,
  isForPublicKeys: false,
  isIdempotent: false,
  query: noQuery,
} as const;

const enrol = personRoute({
  spec: {
    ...common,
    method: "POST",
    path: TOTP,
    operationId: "enrolTotp",
    summary: "Begin to set up an authenticator app",
    description: "The secret counts for nothing until a code of it is confirmed; asking again makes another.",
    body: noBody,
    answers: [{ status: 200, description: "The secret, shown this once", schema: totpSecretBody }],
    refusals: ["TOTP_ALREADY_ENABLED"],
  },
  effects: totpEffects,
  reads: () => [],
  answer: async (call) => {
    const enrolled = await enrolTotp(call.fx, call.principal);
    return enrolled.ok ? ok(jsonReply(200, enrolled.value)) : enrolled;
  },
});

const confirm = personRoute({
  spec: {
    ...common,
    method: "POST",
    path: `${TOTP}/confirm`,
    operationId: "confirmTotp",
    summary: "Switch the authenticator app on with a first code",
    description: "Answers ten backup codes, once. The session counts as stepped up, under a new cookie.",
    body: confirmTotpBody,
    answers: [{ status: 200, description: "It is on", schema: backupCodesBody }],
    refusals: ["INVALID_CODE", "TOTP_NOT_ENABLED", "TOTP_ALREADY_ENABLED"],
  },
  effects: totpEffects,
  reads: () => [],
  answer: async (call) => {
    const { principal, trail } = call;
    const confirmed = await confirmTotp(call.fx, { principal, code: call.body.code, trail });
    if (!confirmed.ok) return confirmed;
    const { token, backupCodes } = confirmed.value;
    const { cookies = [] } = sessionReply(call.env, { token, state: "ACTIVE", person: principal.person });
    return ok({ ...jsonReply(200, { backupCodes }), cookies });
  },
});

const disable = personRoute({
  spec: {
    ...common,
    method: "DELETE",
    path: TOTP,
    operationId: "disableTotp",
    summary: "Remove the authenticator app and its backup codes",
    body: noBody,
    answers: [{ status: 204, description: "It is gone" }],
    refusals: ["TOTP_NOT_ENABLED"],
  },
  effects: totpEffects,
  reads: () => [],
  answer: async (call) => {
    const disabled = await disableTotp(call.fx, { ...call.principal, trail: call.trail });
    return disabled.ok ? ok(emptyReply()) : disabled;
  },
});

const replaceCodes = personRoute({
  spec: {
    ...common,
    method: "POST",
    path: `${TOTP}/backup-codes`,
    operationId: "replaceBackupCodes",
    summary: "Replace the backup codes",
    description: "Ten new ones, shown once; the old ones are dead.",
    body: noBody,
    answers: [{ status: 200, description: "The new codes", schema: backupCodesBody }],
    refusals: ["TOTP_NOT_ENABLED"],
  },
  effects: totpEffects,
  reads: () => [],
  answer: async (call) => {
    const replaced = await replaceBackupCodes(call.fx, { ...call.principal, trail: call.trail });
    return replaced.ok ? ok(jsonReply(200, replaced.value)) : replaced;
  },
});

export const totpRoutes: readonly MountedRoute[] = [enrol, confirm, disable, replaceCodes];
