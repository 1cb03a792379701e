import * as z from "zod";
import { healthBody } from "../notifications/deployment-status/contract.ts";
import { type RouteSpec, specOf } from "../platform/http/route.ts";

const open = { method: "GET", tag: "Service", callers: "ANYBODY", isForPublicKeys: true } as const;

const documentBody = () => z.object({ openapi: z.string() }).loose();

/** Routes that anyone may call; only `/metrics` needs a token, METRICS_TOKEN. */
export const publicSpecs: readonly RouteSpec[] = [
  specOf({
    ...open,
    path: "/healthz",
    operationId: "health",
    summary: "Read whether the deployment works",
    description: "For monitors. The reasons for a 503 are listed in docs/operations/monitoring.md.",
    answers: [
      { status: 200, description: "Healthy", schema: healthBody },
      { status: 503, description: "It does not work properly; `reasons` says why", schema: healthBody },
    ],
  }),
  specOf({
    ...open,
    path: "/metrics",
    operationId: "metrics",
    summary: "Read the state of the deployment in the text format of Prometheus",
    description:
      "Needs `Authorization: Bearer` with the setting `METRICS_TOKEN`; without that setting, the answer is 404.",
    isForPublicKeys: false,
    answers: [{ status: 200, description: "Text format, version 0.0.4", alsoAs: "text/plain" }],
    refusals: ["UNAUTHORIZED", "ROUTE_NOT_FOUND"],
  }),
  specOf({
    ...open,
    path: "/openapi.json",
    operationId: "openapi",
    summary: "Read this reference as an OpenAPI document",
    answers: [{ status: 200, description: "An OpenAPI 3.1 document", schema: documentBody }],
  }),
  specOf({
    ...open,
    path: "/greenfield.json",
    operationId: "greenfield",
    summary: "Read the reference for shop plugins of BTCPay Server as an OpenAPI document",
    description: "Its routes use the formats of BTCPay Server's Greenfield API, and are only in this document.",
    answers: [{ status: 200, description: "An OpenAPI 3.1 document", schema: documentBody }],
  }),
  specOf({
    ...open,
    path: "/docs",
    operationId: "docs",
    summary: "Read this reference as a page",
    answers: [{ status: 200, description: "A page", alsoAs: "text/html" }],
  }),
];
