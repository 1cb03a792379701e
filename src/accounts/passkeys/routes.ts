import { err, ok } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { setCookie } from "../../platform/http/cookies.ts";
import { emptyReplyTo, jsonReply, replyTo } from "../../platform/http/reply.ts";
import { signedInBody } from "../email-codes/contract.ts";
import { CODE_LIFETIME_MS } from "../email-codes/email-code.ts";
import { type MountedRoute, routesOf } from "../pipeline/routes-of.ts";
import { signedInReply } from "../pipeline/session-reply.ts";
import { newToken } from "../sessions/open-session.ts";
import { addPasskey } from "./add-passkey.ts";
import { beginPasskeySignIn } from "./begin-passkey.ts";
import { beginRegistration } from "./begin-registration.ts";
import {
  addPasskeyBody,
  creationOptionsBody,
  listPasskeysQuery,
  passkeyBody,
  passkeyListBody,
  requestOptionsBody,
  updatePasskeyBody,
  verifyPasskeyBody,
} from "./contract.ts";
import { passkeyDependencies } from "./dependencies.ts";
import { listPasskeys, passkeyPageReads } from "./list-passkeys.ts";
import { openPasskeySession } from "./open-passkey-session.ts";
import { passkeyBodyOf } from "./passkey-body.ts";
import { removePasskey } from "./remove-passkey.ts";
import { ownPasskeyReads, updatePasskey } from "./update-passkey.ts";

const PASSKEYS = "/api/v1/me/passkeys";
const ONE = `${PASSKEYS}/:passkeyId`;

const mine = routesOf({ tag: "My account", callers: "USER", dependencies: passkeyDependencies })
  .post(`${PASSKEYS}/options`, {
    operationId: "beginPasskeyRegistration",
    summary: "Start the registration of a passkey",
    description: "Returns the options for `navigator.credentials.create`.",
    needsStepUp: true,
    answers: [{ status: 200, description: "Options, valid for 5 minutes", schema: creationOptionsBody }],
    refusals: ["STORAGE_UNAVAILABLE"],
    answer: async (call) => {
      return replyTo(await beginRegistration(call.deps, call.principal));
    },
  })
  .post(PASSKEYS, {
    operationId: "addPasskey",
    endsAccess: true,
    summary: "Register a passkey",
    description: "Send the result of `navigator.credentials.create`. Attestation statements are not accepted.",
    needsStepUp: true,
    body: addPasskeyBody,
    answers: [{ status: 201, description: "The passkey", schema: passkeyBody }],
    refusals: ["PASSKEY_REFUSED", "PASSKEY_EXISTS", "VALIDATION_FAILED", "STORAGE_UNAVAILABLE"],
    answer: async (call) => {
      const { session } = call.principal;
      return replyTo(await addPasskey(call.deps, { session, ...call.body, trail: call.trail }), passkeyBodyOf, 201);
    },
  })
  .get(PASSKEYS, {
    operationId: "listPasskeys",
    summary: "List your passkeys, newest first",
    query: listPasskeysQuery,
    answers: [{ status: 200, description: "Your passkeys", schema: passkeyListBody }],
    reads: ({ db, tokenHash, request }) => passkeyPageReads(db, tokenHash, request?.query),
    answer: async (call) => {
      const [rows, [count]] = call.read;
      return replyTo(listPasskeys({ rows, total: count?.total ?? 0 }, call.query));
    },
  })
  .patch(ONE, {
    operationId: "updatePasskey",
    summary: "Rename a passkey",
    body: updatePasskeyBody,
    answers: [{ status: 200, description: "The passkey", schema: passkeyBody }],
    refusals: ["PASSKEY_NOT_FOUND", "VALIDATION_FAILED", "STORAGE_UNAVAILABLE", "CONTENTION"],
    reads: ({ db, tokenHash, params }) => ownPasskeyReads(db, { tokenHash, passkeyId: params.passkeyId ?? "" }),
    answer: async (call) => {
      const [[passkey]] = call.read;
      if (passkey === undefined) return err({ code: "PASSKEY_NOT_FOUND" });
      return replyTo(
        await updatePasskey(call.deps, { passkey, name: call.body.name, trail: call.trail }),
        passkeyBodyOf,
      );
    },
  })
  .delete(ONE, {
    operationId: "removePasskey",
    endsAccess: true,
    summary: "Remove a passkey",
    needsStepUp: true,
    answers: [{ status: 204, description: "The passkey was removed and can no longer be used" }],
    refusals: ["PASSKEY_NOT_FOUND", "STORAGE_UNAVAILABLE"],
    reads: ({ db, tokenHash, params }) => ownPasskeyReads(db, { tokenHash, passkeyId: params.passkeyId ?? "" }),
    answer: async (call) => {
      const [[passkey]] = call.read;
      if (passkey === undefined) return err({ code: "PASSKEY_NOT_FOUND" });
      return emptyReplyTo(await removePasskey(call.deps, { passkey, trail: call.trail }));
    },
  });

const signIn = routesOf({ tag: "Sign-in", callers: "ANYBODY", dependencies: passkeyDependencies })
  .post("/api/v1/auth/passkey/options", {
    operationId: "beginPasskeySignIn",
    summary: "Start a sign-in with a passkey",
    description:
      "Returns the options for `navigator.credentials.get`, for any passkey that the user selects. They work only in the browser that requested them: keep the `signin` cookie.",
    answers: [{ status: 200, description: "Options, valid for 5 minutes", schema: requestOptionsBody }],
    refusals: ["STORAGE_UNAVAILABLE"],
    answer: async (call) => {
      // A page may offer passkeys and an email field at the same time, so starting one sign-in must not end the other.
      const nonce = ownNonce(call.cookie("signin")) ?? newToken();
      const options = await beginPasskeySignIn(call.deps, { nonce });
      if (!options.ok) return options;
      const cookie = setCookie(call.env, "signin", nonce, CODE_LIFETIME_MS / SECOND_MS);
      return ok({ ...jsonReply(200, options.value), cookies: [cookie] });
    },
  })
  .post("/api/v1/auth/passkey/verify", {
    operationId: "verifyPasskeySignIn",
    summary: "Sign in with a passkey",
    description:
      "Send the result of `navigator.credentials.get`, with the `signin` cookie that came with the options. No second factor is needed, because a passkey verifies its user. The error is the same whatever is wrong.",
    body: verifyPasskeyBody,
    answers: [{ status: 200, description: "Signed in", schema: signedInBody }],
    refusals: ["PASSKEY_REFUSED", "VALIDATION_FAILED", "STORAGE_UNAVAILABLE"],
    answer: async (call) => {
      const signedIn = await openPasskeySession(call.deps, {
        credential: call.body.credential,
        nonce: call.cookie("signin"),
        oldToken: call.cookie("session"),
        ip: call.ip,
        userAgent: call.userAgent,
        requestId: call.requestId,
      });
      return signedIn.ok ? ok(signedInReply(call, signedIn.value)) : signedIn;
    },
  });

export const passkeyRoutes: readonly MountedRoute[] = [...mine, ...signIn];

/** The cookie's value if it has the form of our nonces; undefined for anything else. */
function ownNonce(cookie: string | undefined): string | undefined {
  return cookie !== undefined && /^[A-Za-z0-9_-]{43}$/.test(cookie) ? cookie : undefined;
}
