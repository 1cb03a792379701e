// The one script of the payers' pages, under a name that changes with its content: browsers keep it forever, and a payer's second page
// does not ask for it. It is the same for everyone, so nothing is looked up, counted or limited here.

import type { MountedRoute } from "../../accounts/pipeline/routes-of.ts";
import { failureResponse } from "../../platform/http/errors.ts";
import { specOf } from "../../platform/http/route.ts";
import { answerHeaders } from "../../platform/http/security-headers.ts";
import { SCRIPT, SCRIPT_PATH } from "../pay/assets.generated.ts";

/** The path is the content's hash. */
const ETAG = `"${SCRIPT_PATH}"`;

const asset: MountedRoute = {
  spec: specOf({
    method: "GET",
    path: "/assets/:name",
    operationId: "serveAsset",
    tag: "Service",
    summary: "The script of the checkout pages",
    callers: "ANYBODY",
    answers: [{ status: 200, description: "The script, for ever the same", alsoAs: "text/javascript" }],
    refusals: ["ROUTE_NOT_FOUND"],
  }),
  handle: async (c) => {
    const requestId = c.get("requestId");
    if (c.req.path !== SCRIPT_PATH) return failureResponse({ code: "ROUTE_NOT_FOUND" }, requestId);
    const headers = answerHeaders(requestId, {
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      etag: ETAG,
    });
    if (c.req.header("if-none-match") === ETAG) return new Response(null, { status: 304, headers });
    return new Response(SCRIPT, { headers });
  },
};

export const checkoutAssetRoutes: readonly MountedRoute[] = [asset];
