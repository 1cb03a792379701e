import { err, ok } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import { emptyReplyTo, jsonReply, replyTo } from "../../platform/http/reply.ts";
import type { MerchantPrincipal } from "../auth/principal.ts";
import { stepUpRefusal } from "../auth/principal.ts";
import { answerOnce } from "../pipeline/answer-once.ts";
import { type MountedRoute, routesOf } from "../pipeline/routes-of.ts";
import { weakeningRefusal } from "../protections/weakening.ts";
import { seatOf } from "../teams/check-seat.ts";
import {
  createMerchantBody,
  deleteMerchantBody,
  listMerchantsQuery,
  merchantBody,
  merchantListBody,
  settingsBody,
  updateMerchantBody,
  updateSettingsBody,
} from "./contract.ts";
import { createMerchant } from "./create-merchant.ts";
import { deleteMerchant } from "./delete-merchant.ts";
import { merchantDependencies } from "./dependencies.ts";
import { listMerchants, myMerchantsReads } from "./list-merchants.ts";
import { merchantBodyOf } from "./merchant-body.ts";
import { settingsReads } from "./read-settings.ts";
import { settingsBodyOf } from "./settings-body.ts";
import { updateMerchantName } from "./update-merchant.ts";
import { updateSettings } from "./update-settings.ts";

const ALL = "/api/v1/merchants";
const ONE = `${ALL}/merchant/:merchantId`;
const SETTINGS = `${ONE}/settings`;

const ofUser = routesOf({ tag: "Merchants", callers: "USER", dependencies: merchantDependencies })
  .post(ALL, {
    operationId: "createMerchant",
    summary: "Create a merchant",
    description: "The user who creates it becomes its owner.",
    isIdempotent: true,
    body: createMerchantBody,
    answers: [{ status: 201, description: "The merchant", schema: merchantBody }],
    refusals: ["LIMIT_REACHED"],
    answer: async (call) => {
      const { principal, trail, body } = call;
      return answerOnce(call, createMerchant(call.deps, { name: body.name, ownerId: principal.user.id, trail }));
    },
  })
  .get(ALL, {
    operationId: "listMerchants",
    summary: "List your merchants, the newest membership first",
    description: "Includes merchants whose team requires a security setting that you do not have.",
    query: listMerchantsQuery,
    answers: [{ status: 200, description: "One page", schema: merchantListBody }],
    reads: ({ db, tokenHash, request }) => myMerchantsReads(db, tokenHash, request?.query),
    answer: async (call) => {
      const [rows, counts] = call.read;
      const { user } = call.principal;
      const { configured } = call.deps;
      return replyTo(listMerchants({ rows, total: counts[0]?.total ?? 0 }, call.query, { user, configured }));
    },
  });

const ofMerchant = routesOf({ tag: "Merchants", callers: "MEMBER_OR_KEY", dependencies: merchantDependencies })
  .get(ONE, {
    operationId: "getMerchant",
    summary: "Read a merchant",
    permission: "merchant:view",
    answers: [{ status: 200, description: "The merchant", schema: merchantBody }],
    answer: async (call) => ok(jsonReply(200, merchantBodyOf(call.merchant, viewerOf(call.principal)))),
  })
  .patch(ONE, {
    operationId: "updateMerchant",
    summary: "Rename a merchant",
    permission: "merchant:update",
    body: updateMerchantBody,
    answers: [{ status: 200, description: "The changed merchant", schema: merchantBody }],
    answer: async (call) => {
      const { merchant: read, trail, principal } = call;
      const of = { read, trail, seat: seatOf(principal), permission: "merchant:update" } as const;
      return replyTo(await updateMerchantName(call.deps, of, call.body.name), (value) =>
        merchantBodyOf(value, viewerOf(principal)),
      );
    },
  })
  .delete(ONE, {
    operationId: "deleteMerchant",
    endsAccess: true,
    summary: "Delete a merchant",
    description: "Its keys stop working and its members lose access. Send its name as a confirmation.",
    permission: "merchant:delete",
    needsStepUp: true,
    isOwnerOnly: true,
    body: deleteMerchantBody,
    answers: [{ status: 204, description: "The merchant was deleted" }],
    refusals: ["CONFIRMATION_MISMATCH"],
    answer: async (call) => {
      const { merchant: read, trail, principal } = call;
      // A key cannot hold the permission to delete a merchant (decisions 7).
      if (principal.kind === "API_KEY") return err({ code: "OWNER_REQUIRED" });
      const of = { read, trail, seat: principal, permission: "merchant:delete" } as const;
      return emptyReplyTo(await deleteMerchant(call.deps, of, call.body.name));
    },
  })
  .get(SETTINGS, {
    operationId: "getSettings",
    summary: "Read the settings",
    permission: "merchant:view",
    answers: [{ status: 200, description: "All settings", schema: settingsBody }],
    answer: async (call) => ok(jsonReply(200, settingsBodyOf(call.merchant, call.deps))),
  })
  .patch(SETTINGS, {
    operationId: "updateSettings",
    summary: "Change settings",
    description:
      "Absent settings keep their values. A change applies to new invoices; existing ones keep the settings with which they were created. Only a user who gave a factor in the last 5 minutes can change walletChangeDelayHours: every owner and admin is mailed, and a shorter delay takes effect once the current delay has passed. Weakening a protection also needs a recent factor, or PROTECTION_WEAKEN if an API key is used.",
    permission: "merchant:update",
    body: updateSettingsBody,
    answers: [{ status: 200, description: "All settings after the change", schema: settingsBody }],
    refusals: ["IMAGE_NOT_FOUND", "STEP_UP_REQUIRED", "SESSION_REQUIRED"],
    reads: ({ db, merchantId, request }) => settingsReads(db, merchantId, request?.body.brand?.logo),
    answer: async (call) => {
      const { body, merchant: read, trail, principal } = call;
      const [, stewards] = call.read;
      const isLogoNamed = typeof body.brand?.logo === "string";
      if (isLogoNamed && call.read[0].length === 0) return err({ code: "IMAGE_NOT_FOUND" });
      const of = {
        read,
        trail,
        seat: seatOf(principal),
        permission: "merchant:update",
        delayRefusal: delayRefusal(principal, call.nowMs),
        watch: {
          place: read.name,
          author: principal.kind === "USER" ? principal.user.email : "An API key",
          readers: stewards.map(({ email }) => email),
          refusal: weakeningRefusal(principal, call.nowMs),
        },
      } as const;
      return replyTo(await updateSettings(call.deps, of, body), (value) => settingsBodyOf(value, call.deps));
    },
  });

export const merchantRoutes: readonly MountedRoute[] = [...ofUser, ...ofMerchant];

/** Why a caller may not change the wallet change delay. A stolen API key must not be enough to shorten it. */
function delayRefusal(principal: MerchantPrincipal, nowMs: number): Failure | undefined {
  return principal.kind === "API_KEY" ? { code: "SESSION_REQUIRED" } : stepUpRefusal(principal, nowMs);
}

/** `missing` is always empty here: a member without a required factor has already been refused. */
function viewerOf(principal: MerchantPrincipal) {
  const { permissions } = principal;
  return { role: principal.kind === "API_KEY" ? null : principal.role, permissions, missing: [] };
}
