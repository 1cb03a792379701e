import { ok } from "../../lib/result.ts";
import { emptyReply, jsonReply } from "../../platform/http/reply.ts";
import { routesOf } from "../pipeline/routes-of.ts";
import { sessionReply } from "../pipeline/session-reply.ts";
import { confirmTotp } from "./confirm-totp.ts";
import { backupCodesBody, confirmTotpBody, totpSecretBody } from "./contract.ts";
import { totpDependencies } from "./dependencies.ts";
import { disableTotp } from "./disable-totp.ts";
import { enrolTotp } from "./enrol-totp.ts";
import { replaceBackupCodes } from "./replace-backup-codes.ts";

const TOTP = "/api/v1/me/totp";

export const totpRoutes = routesOf({
  tag: "My account",
  callers: "PERSON",
  dependencies: totpDependencies,
  needsStepUp: true,
})
  .post(TOTP, {
    operationId: "enrolTotp",
    summary: "Begin to set up an authenticator app",
    description: "The secret counts for nothing until a code of it is confirmed; asking again makes another.",
    answers: [{ status: 200, description: "The secret, shown this once", schema: totpSecretBody }],
    refusals: ["TOTP_ALREADY_ENABLED"],
    answer: async (call) => {
      const enrolled = await enrolTotp(call.deps, call.principal);
      return enrolled.ok ? ok(jsonReply(200, enrolled.value)) : enrolled;
    },
  })
  .post(`${TOTP}/confirm`, {
    operationId: "confirmTotp",
    summary: "Switch the authenticator app on with a first code",
    description:
      "Answers ten backup codes, once. The session counts as stepped up, under a new cookie; all others end.",
    body: confirmTotpBody,
    answers: [{ status: 200, description: "It is on", schema: backupCodesBody }],
    refusals: ["INVALID_CODE", "TOTP_NOT_ENABLED", "TOTP_ALREADY_ENABLED"],
    answer: async (call) => {
      const { principal, trail } = call;
      const confirmed = await confirmTotp(call.deps, { principal, code: call.body.code, trail });
      if (!confirmed.ok) return confirmed;
      const { token, backupCodes } = confirmed.value;
      const { cookies = [] } = sessionReply(call.env, { token, state: "ACTIVE", user: principal.user });
      return ok({ ...jsonReply(200, { backupCodes }), cookies });
    },
  })
  .delete(TOTP, {
    operationId: "disableTotp",
    summary: "Remove the authenticator app and its backup codes",
    answers: [{ status: 204, description: "It is gone" }],
    refusals: ["TOTP_NOT_ENABLED"],
    answer: async (call) => {
      const disabled = await disableTotp(call.deps, { ...call.principal, trail: call.trail });
      return disabled.ok ? ok(emptyReply()) : disabled;
    },
  })
  .post(`${TOTP}/backup-codes`, {
    operationId: "replaceBackupCodes",
    summary: "Replace the backup codes",
    description: "Ten new ones, shown once; the old ones are dead.",
    answers: [{ status: 200, description: "The new codes", schema: backupCodesBody }],
    refusals: ["TOTP_NOT_ENABLED"],
    answer: async (call) => {
      const replaced = await replaceBackupCodes(call.deps, { ...call.principal, trail: call.trail });
      return replaced.ok ? ok(jsonReply(200, replaced.value)) : replaced;
    },
  });
