import * as z from "zod";
import { type RouteSpec, specOf } from "../platform/http/route.ts";

const open = { method: "GET", tag: "Service", callers: "ANYBODY", isForPublicKeys: true } as const;

const healthBody = () =>
  z
    .object({
      status: z.enum(["ok", "degraded"]),
      database: z.enum(["ok", "unavailable"]),
      networks: z.record(
        z.string(),
        z.object({
          height: z.int().nullable().meta({ description: "Newest block that was read completely" }),
          tipHeight: z.int().nullable().meta({ description: "Newest block of the network's source" }),
          lagSeconds: z
            .int()
            .nullable()
            .meta({ description: "Seconds since the time up to which everything was read" }),
          isResting: z
            .boolean()
            .meta({ description: "True if nothing on the network is watched, so that it is not polled" }),
          degradedSince: z.iso
            .datetime()
            .nullable()
            .meta({ description: "Since when the network's source cannot be read; null while it can" }),
          unreadAddresses: z
            .int()
            .meta({ description: "Number of addresses that the source refuses or that are flooded" }),
        }),
      ),
      unsettledInvoices: z.int().meta({
        description: "Number of invoices that cannot be settled; the log names them. They do not block others.",
      }),
      warnings: z.array(z.string()),
    })
    .meta({ title: "Health" });

const documentBody = () => z.object({ openapi: z.string() }).loose();

/** Routes that anyone may call. */
export const publicSpecs: readonly RouteSpec[] = [
  specOf({
    ...open,
    path: "/healthz",
    operationId: "health",
    summary: "Read the state of storage and of each configured network",
    answers: [
      { status: 200, description: "Healthy", schema: healthBody },
      { status: 503, description: "Storage does not answer", schema: healthBody },
    ],
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
    path: "/docs",
    operationId: "docs",
    summary: "Read this reference as a page",
    answers: [{ status: 200, description: "A page", alsoAs: "text/html" }],
  }),
];
