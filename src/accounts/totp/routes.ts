import { ok } from "../../lib/result.ts";
import { emptyReplyTo, jsonReply, replyTo } from "../../platform/http/reply.ts";
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
  callers: "USER",
  dependencies: totpDependencies,
  needsStepUp: true,
})
  .post(TOTP, {
    operationId: "enrolTotp",
    isSecret: true,
    summary: "Start the enrolment of an authenticator app",
    description: "The app does not count as a factor until you confirm a code from it.",
    answers: [{ status: 200, description: "The secret, shown only in this response", schema: totpSecretBody }],
    refusals: ["TOTP_ALREADY_ENABLED"],
    answer: async (call) => {
      return replyTo(await enrolTotp(call.deps, call.principal));
    },
  })
  .post(`${TOTP}/confirm`, {
    operationId: "confirmTotp",
    summary: "Switch on the authenticator app with its first code",
    description:
      "Returns ten backup codes, which are not shown again. The session counts as stepped up and gets a new cookie; your other sessions end.",
    body: confirmTotpBody,
    answers: [{ status: 200, description: "The app is switched on; its backup codes", schema: backupCodesBody }],
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
    endsAccess: true,
    summary: "Remove the authenticator app and its backup codes",
    answers: [{ status: 204, description: "The app was removed" }],
    refusals: ["TOTP_NOT_ENABLED"],
    answer: async (call) => {
      return emptyReplyTo(await disableTotp(call.deps, { ...call.principal, trail: call.trail }));
    },
  })
  .post(`${TOTP}/backup-codes`, {
    operationId: "replaceBackupCodes",
    isSecret: true,
    summary: "Replace the backup codes",
    description: "Returns ten new codes; the old ones stop working.",
    answers: [{ status: 200, description: "The new codes", schema: backupCodesBody }],
    refusals: ["TOTP_NOT_ENABLED"],
    answer: async (call) => {
      return replyTo(await replaceBackupCodes(call.deps, { ...call.principal, trail: call.trail }));
    },
  });
