import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { ok } from "../../lib/result.ts";
import { jsonReply } from "../../platform/http/reply.ts";
import { publicKeysBody } from "./contract.ts";
import { publicKeyDependencies } from "./dependencies.ts";
import { readPublicKeys } from "./read-public-keys.ts";

export const returnRoutes = routesOf({ tag: "Service", callers: "ANYBODY", dependencies: publicKeyDependencies }).get(
  "/.well-known/edgetill-keys.json",
  {
    operationId: "listPublicKeys",
    summary: "Read the keys that verify a returning customer's signature",
    description:
      "A JSON Web Key Set. After payment, `redirectUrl` has the parameters `invoiceId`, `status`, `timestamp`, `keyId` and `signature`. The signature is Ed25519 over the lines `edgetill-return-v1`, invoiceId, status and timestamp, with a line feed between lines and none at the end.",
    isForAnyOrigin: true,
    answers: [
      {
        status: 200,
        description: "Newest first; older keys stay for 90 days after a rotation",
        schema: publicKeysBody,
      },
    ],
    answer: async (call) => {
      const { keys, isWhole } = await readPublicKeys(call.deps);
      // Keys that could not be read now may be readable again soon, and must then be visible at once.
      const cacheControl = isWhole ? "public, max-age=300" : "no-store";
      return ok({ ...jsonReply(200, { keys }), headers: { "cache-control": cacheControl } });
    },
  },
);
