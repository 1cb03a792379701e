// Routes that exist only in some deployments. In others the request is not read, and the response is that of an unknown path.

import { failureResponse } from "../../platform/http/errors.ts";
import type { MountedRoute } from "./routes-of.ts";

export function routesWhere(exists: (env: Env) => boolean, routes: Iterable<MountedRoute>): readonly MountedRoute[] {
  return [...routes].map(({ spec, handle }) => ({
    spec,
    handle: async (c) => (exists(c.env) ? handle(c) : failureResponse({ code: "ROUTE_NOT_FOUND" }, c.get("requestId"))),
  }));
}
