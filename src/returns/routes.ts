import type { MountedRoute } from "../auth/middleware.ts";
import { jsonReply } from "../http/reply.ts";
import { noBody, noQuery } from "../http/route.ts";
import { ok } from "../lib/result.ts";
import { openRoute } from "../sign-in/middleware.ts";
import { publicKeysBody } from "./contract.ts";
import { returnEffects } from "./effects.ts";
import { listPublicKeys } from "./sign-return.ts";

const publicKeys = openRoute({
  spec: {
    method: "GET",
    path: "/.well-known/edgetill-keys.json",
    operationId: "listPublicKeys",
    tag: "Service",
    summary: "The keys that a returning customer's signature is verified with",
    description:
      "A JSON Web Key Set. After payment `redirectUrl` carries `invoiceId`, `status`, `timestamp`, `keyId` and `signature`: Ed25519 over the lines `edgetill-return-v1`, invoiceId, status and timestamp, with a line feed between each two and none at the end.",
    callers: "ANYBODY",
    permission: null,
    isForPublicKeys: false,
    isForAnyOrigin: true,
    isIdempotent: false,
    body: noBody,
    query: noQuery,
    answers: [
      { status: 200, description: "Newest first; more than one while they are rotated", schema: publicKeysBody },
    ],
    refusals: [],
  },
  effects: returnEffects,
  answer: async (call) => {
    const keys = await listPublicKeys(call.fx);
    // What is missing is mended soon, and then must be seen at once.
    const cacheControl = keys.length === 0 ? "no-store" : "public, max-age=300";
    return ok({ ...jsonReply(200, { keys }), headers: { "cache-control": cacheControl } });
  },
});

export const returnRoutes: readonly MountedRoute[] = [publicKeys];
