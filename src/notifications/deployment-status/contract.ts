// The wire format of the deployment's status: for operators, and of the public `/healthz`.
import * as z from "zod";
import { time } from "../../lib/fields.ts";
import { MOST_COUNTED, REASON_CODES } from "./status.ts";

const reasonBody = () =>
  z.object({
    code: z.enum(REASON_CODES),
    network: z.string().nullable().meta({ description: "The network that it is about, if it is about one." }),
    since: time().nullable(),
    detail: z.string().meta({ description: "A sentence for operators." }),
  });

const queueBody = (what: string) =>
  z
    .object({
      due: z.int().meta({ description: `More than ${MOST_COUNTED} are not counted.` }),
      oldestDueAt: time().nullable(),
    })
    .meta({ description: what });

const networkBody = () =>
  z.object({
    network: z.string(),
    cursorHeight: z.int().nullable().meta({ description: "Newest block that was read completely" }),
    tipHeight: z.int().nullable().meta({ description: "Newest block of the network's source" }),
    lagSeconds: z.int().nullable().meta({
      description: "Seconds since the time up to which everything was read; null while nothing is watched",
    }),
    isWaitedOn: z.boolean().meta({ description: "Whether a payment on the network is awaited" }),
    quarantinedAddresses: z
      .int()
      .meta({ description: "Addresses that the source refuses or that are flooded: they are read by themselves" }),
    degradedSince: time()
      .nullable()
      .meta({ description: "Since when the network's source cannot be read; null while it can" }),
    pausedAt: time().nullable().meta({ description: "Since when an operator has it paused" }),
  });

export const statusBody = () =>
  z
    .object({
      status: z.enum(["OK", "FAILING"]).meta({ description: "FAILING exactly if there is a reason." }),
      checkedAt: time(),
      reasons: z.array(reasonBody()),
      networks: z.array(networkBody()).meta({ description: "Every network with a source, or that was ever watched." }),
      cron: z.object({
        lastRunAt: time().nullable().meta({ description: "When the scheduled jobs last began; they do every minute." }),
      }),
      database: z.object({
        bytes: z.int(),
        limitBytes: z.int().meta({ description: "The setting `DATABASE_LIMIT_GB`." }),
      }),
      invoices: z.object({
        oldestDueAt: time()
          .nullable()
          .meta({ description: "When the oldest open invoice ended whose end is over. The sweep settles it." }),
        unsettled: z.int().meta({ description: "Invoices that cannot be settled; the log names them." }),
      }),
      deliveries: queueBody("Deliveries of webhooks."),
      receipts: queueBody("Receipts by mail."),
      mails: queueBody("Invitations and notices to teams."),
    })
    .meta({ title: "DeploymentStatus" });

export const healthBody = () =>
  z
    .object({
      version: z.string().meta({ description: "Version of the deployment, as in its CHANGELOG" }),
      status: z.enum(["ok", "degraded"]),
      database: z.enum(["ok", "unavailable"]),
      reasons: z.array(reasonBody()).meta({ description: "Why the status is degraded; empty if it is ok." }),
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
          askedAgainAt: z.iso.datetime().nullable().meta({
            description:
              "When the first of the network's sources is asked again, while all are left alone because they failed or refuse; null while one may be asked",
          }),
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
