import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { configuredExplorers } from "../../chains/registry/explorers.ts";
import { ok } from "../../lib/result.ts";
import { jsonReply } from "../../platform/http/reply.ts";
import { explorersBody } from "./contract.ts";

export const explorerRoutes = routesOf({ tag: "Service", callers: "ANYBODY" }).get("/api/v1/explorers", {
  operationId: "listExplorers",
  summary: "List the block explorers of the deployment",
  description: "Where a user can view a transaction or an address. Empty unless the operator has set `EXPLORERS`.",
  answers: [{ status: 200, description: "One explorer for each network that has one", schema: explorersBody }],
  answer: async (call) => ok(jsonReply(200, { data: configuredExplorers(call.env.EXPLORERS) })),
});
