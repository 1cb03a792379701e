import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { ok } from "../../lib/result.ts";
import { jsonReply } from "../../platform/http/reply.ts";
import { publicKeysBody } from "./contract.ts";
import { returnDependencies } from "./dependencies.ts";
import { listPublicKeys } from "./sign-return.ts";

export const returnRoutes = routesOf({ tag: "Service", callers: "ANYBODY", dependencies: returnDependencies }).get(
  "/.well-known/edgetill-keys.json",
  {
    operationId: "listPublicKeys",
    summary: "Read the keys that verify a returning customer's signature",
    description:
      "A JSON Web Key Set. After payment `redirectUrl` carries `invoiceId`, `status`, `timestamp`, `keyId` and `signature`: Ed25519 over the lines `edgetill-return-v1`, invoiceId, status and timestamp, with a line feed between each two and none at the end.",
    isForAnyOrigin: true,
    answers: [{ status: 200, description: "Newest first; more than one during a rotation", schema: publicKeysBody }],
    answer: async (call) => {
      const keys = await listPublicKeys(call.deps);
      // An operator will add a missing key soon, and it must then be visible at once.
      const cacheControl = keys.length === 0 ? "no-store" : "public, max-age=300";
      return ok({ ...jsonReply(200, { keys }), headers: { "cache-control": cacheControl } });
    },
  },
);
