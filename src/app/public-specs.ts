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
          height: z.int().nullable().meta({ description: "Newest block that was read to its end" }),
          tipHeight: z.int().nullable().meta({ description: "Newest block of its source" }),
          lagSeconds: z.int().nullable().meta({ description: "Since the moment up to which everything was read" }),
          isResting: z.boolean().meta({ description: "Nothing on it is watched, so nobody polls it" }),
          degradedSince: z.iso.datetime().nullable().meta({ description: "Since when its source cannot be read" }),
          unreadAddresses: z.int().meta({ description: "Addresses that its source refuses, or that are flooded" }),
        }),
      ),
      unsettledInvoices: z.int().meta({
        description: "Invoices whose end cannot be worked out: the log names them. They stop no other.",
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
    summary: "Whether storage answers, and per configured network its cursor",
    answers: [
      { status: 200, description: "Healthy", schema: healthBody },
      { status: 503, description: "Storage does not answer", schema: healthBody },
    ],
  }),
  specOf({
    ...open,
    path: "/openapi.json",
    operationId: "openapi",
    summary: "This reference for machines",
    answers: [{ status: 200, description: "An OpenAPI 3.1 document", schema: documentBody }],
  }),
  specOf({
    ...open,
    path: "/docs",
    operationId: "docs",
    summary: "This reference for people",
    answers: [{ status: 200, description: "A page", alsoAs: "text/html" }],
  }),
];
