import { type MountedRoute, merchantRoute } from "../auth/middleware.ts";
import type { MerchantPrincipal } from "../auth/principal.ts";
import { stepUpRefusal } from "../auth/principal.ts";
import { emptyReply, jsonReply } from "../http/reply.ts";
import { noBody, noQuery } from "../http/route.ts";
import { answerOnce } from "../idempotency/middleware.ts";
import { err, ok } from "../lib/result.ts";
import { personRoute } from "../sessions/middleware.ts";
import { FREE_TEXT } from "../wallets/secret-material.ts";
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
import { merchantEffects } from "./effects.ts";
import { listMerchants, myMerchantsReads } from "./list-merchants.ts";
import { merchantBodyOf } from "./merchant-body.ts";
import { logoReads } from "./read-logo.ts";
import { settingsBodyOf } from "./settings-body.ts";
import { updateMerchantName } from "./update-merchant.ts";
import { updateSettings } from "./update-settings.ts";

const ALL = "/api/v1/merchants";
const ONE = `${ALL}/merchant/:merchantId`;
const SETTINGS = `${ONE}/settings`;

const create = personRoute({
  spec: {
    method: "POST",
    path: ALL,
    operationId: "createMerchant",
    tag: "Merchants",
    summary: "Create a merchant",
    description: "Whoever creates it is its owner.",
    callers: "PERSON",
    permission: null,
    isForPublicKeys: false,
    isIdempotent: true,
    body: createMerchantBody,
    query: noQuery,
    answers: [{ status: 201, description: "The merchant", schema: merchantBody }],
    refusals: [],
  },
  effects: merchantEffects,
  reads: () => [],
  answer: async (call) => {
    const { principal, trail, body } = call;
    return answerOnce(call, createMerchant(call.fx, { name: body.name, ownerId: principal.person.id, trail }));
  },
});

const list = personRoute({
  spec: {
    method: "GET",
    path: ALL,
    operationId: "listMerchants",
    tag: "Merchants",
    summary: "List my merchants, the newest of my memberships first",
    description: "Also those whose team demands a factor that I lack.",
    callers: "PERSON",
    permission: null,
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: listMerchantsQuery,
    answers: [{ status: 200, description: "One page", schema: merchantListBody }],
    refusals: [],
  },
  effects: merchantEffects,
  reads: ({ db, tokenHash, request }) => myMerchantsReads(db, tokenHash, request?.query),
  answer: async (call) => {
    const [rows, counts] = call.read;
    const { person } = call.principal;
    const { configured } = call.fx;
    const page = listMerchants({ rows, total: counts[0]?.total ?? 0 }, call.query, { person, configured });
    return page.ok ? ok(jsonReply(200, page.value)) : page;
  },
});

const get = merchantRoute({
  spec: {
    method: "GET",
    path: ONE,
    operationId: "getMerchant",
    tag: "Merchants",
    summary: "Read a merchant",
    callers: "MEMBER_OR_KEY",
    permission: "merchant:view",
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 200, description: "The merchant", schema: merchantBody }],
    refusals: [],
  },
  secrets: FREE_TEXT,
  effects: merchantEffects,
  reads: () => [],
  answer: async (call) => ok(jsonReply(200, merchantBodyOf(call.merchant, viewerOf(call.principal)))),
});

const update = merchantRoute({
  spec: {
    method: "PATCH",
    path: ONE,
    operationId: "updateMerchant",
    tag: "Merchants",
    summary: "Rename a merchant",
    callers: "MEMBER_OR_KEY",
    permission: "merchant:update",
    isForPublicKeys: false,
    isIdempotent: false,
    body: updateMerchantBody,
    query: noQuery,
    answers: [{ status: 200, description: "The merchant as it now is", schema: merchantBody }],
    refusals: [],
  },
  secrets: FREE_TEXT,
  effects: merchantEffects,
  reads: () => [],
  answer: async (call) => {
    const { merchant: read, trail, principal } = call;
    const changed = await updateMerchantName(call.fx, { read, trail }, call.body.name);
    return changed.ok ? ok(jsonReply(200, merchantBodyOf(changed.value, viewerOf(principal)))) : changed;
  },
});

const remove = merchantRoute({
  spec: {
    method: "DELETE",
    path: ONE,
    operationId: "deleteMerchant",
    tag: "Merchants",
    summary: "Delete a merchant",
    description: "Its keys stop working and its members lose it. Type its name again.",
    callers: "MEMBER_OR_KEY",
    permission: "merchant:delete",
    isOwnerOnly: true,
    needsStepUp: true,
    isForPublicKeys: false,
    isIdempotent: false,
    body: deleteMerchantBody,
    query: noQuery,
    answers: [{ status: 204, description: "It is gone" }],
    refusals: ["CONFIRMATION_MISMATCH"],
  },
  secrets: FREE_TEXT,
  effects: merchantEffects,
  reads: () => [],
  answer: async (call) => {
    const { merchant: read, trail, principal } = call;
    // A key cannot hold the permission: it is a person's only (decisions 7).
    if (principal.kind === "API_KEY") return err({ code: "OWNER_REQUIRED" });
    const deleted = await deleteMerchant(call.fx, { read, trail, owner: principal }, call.body.name);
    return deleted.ok ? ok(emptyReply()) : deleted;
  },
});

const getSettings = merchantRoute({
  spec: {
    method: "GET",
    path: SETTINGS,
    operationId: "getSettings",
    tag: "Merchants",
    summary: "Read the settings",
    callers: "MEMBER_OR_KEY",
    permission: "merchant:view",
    isForPublicKeys: false,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [{ status: 200, description: "All settings", schema: settingsBody }],
    refusals: [],
  },
  secrets: FREE_TEXT,
  effects: merchantEffects,
  reads: () => [],
  answer: async (call) => ok(jsonReply(200, settingsBodyOf(call.merchant, call.fx))),
});

const patchSettings = merchantRoute({
  spec: {
    method: "PATCH",
    path: SETTINGS,
    operationId: "updateSettings",
    tag: "Merchants",
    summary: "Change settings",
    description:
      "What is absent keeps. They hold for invoices made from now on; one that stands keeps those it was made with. A person who shortens walletChangeDelayHours must have given a factor in the last 5 minutes.",
    callers: "MEMBER_OR_KEY",
    permission: "merchant:update",
    isForPublicKeys: false,
    isIdempotent: false,
    body: updateSettingsBody,
    query: noQuery,
    answers: [{ status: 200, description: "All settings as they now are", schema: settingsBody }],
    refusals: ["IMAGE_NOT_FOUND", "STEP_UP_REQUIRED"],
  },
  secrets: FREE_TEXT,
  effects: merchantEffects,
  reads: ({ db, merchantId, request }) => logoReads(db, merchantId, request?.body.brand?.logo),
  answer: async (call) => {
    const { body, merchant: read, trail } = call;
    const loosening = stepUpRefusal(call.principal, call.nowMs);
    const isLogoNamed = typeof body.brand?.logo === "string";
    if (isLogoNamed && call.read[0].length === 0) return err({ code: "IMAGE_NOT_FOUND" });
    const changed = await updateSettings(call.fx, { read, trail, loosening }, body);
    return changed.ok ? ok(jsonReply(200, settingsBodyOf(changed.value, call.fx))) : changed;
  },
});

export const merchantRoutes: readonly MountedRoute[] = [create, list, get, update, remove, getSettings, patchSettings];

/** Nobody who lacks what the team demands comes this far. */
function viewerOf(principal: MerchantPrincipal) {
  return { role: principal.kind === "API_KEY" ? null : principal.role, missing: [] };
}
