// The wire format of the deployment's status: for operators, and for the public `/healthz`.
import * as z from "zod";
import { time } from "../../lib/fields.ts";
import { MOST_COUNTED, PROOF_STATES, REASON_CODES } from "./status.ts";

const reasonBody = () =>
  z.object({
    code: z.enum(REASON_CODES),
    network: z
      .string()
      .nullable()
      .meta({ description: "The network that the reason is about; null if it is not about one network." }),
    since: time().nullable(),
    detail: z.string().meta({ description: "A sentence for operators." }),
  });

const queueBody = (what: string) =>
  z
    .object({
      due: z.int().meta({ description: `The number of due items, up to ${MOST_COUNTED}.` }),
      oldestDueAt: time().nullable(),
    })
    .meta({ description: what });

const networkBody = () =>
  z.object({
    network: z.string(),
    cursorHeight: z.int().nullable().meta({ description: "Newest block that was read completely" }),
    tipHeight: z.int().nullable().meta({ description: "Newest block of the network's source" }),
    lagSeconds: z.int().nullable().meta({
      description:
        "Seconds since the time up to which everything was read; null while nothing is watched or nothing has been read",
    }),
    isWaitedOn: z.boolean().meta({ description: "Whether a payment on the network is awaited" }),
    quarantinedAddresses: z.int().meta({
      description: "Number of addresses that the source refuses or that are flooded; they are read separately",
    }),
    degradedSince: time()
      .nullable()
      .meta({ description: "When the network's source stopped answering; null while it answers" }),
    pausedAt: time().nullable().meta({ description: "When an operator paused it" }),
  });

export const alertProofBody = () =>
  z
    .object({
      state: z.enum(PROOF_STATES).meta({
        description:
          "UNPROVED while no operator has confirmed that a test alert with the present settings arrived, or dismissed the warning.",
      }),
      testAcceptedAt: time().nullable().meta({
        description:
          "When the mail provider or the receiver last accepted a test alert; null if the settings have changed since.",
      }),
      provedAt: time()
        .nullable()
        .meta({ description: "When an operator last confirmed that one arrived, also if the settings have changed." }),
      dismissedAt: time().nullable().meta({ description: "When an operator dismissed the warning." }),
    })
    .meta({ title: "AlertProof" });

export const statusBody = () =>
  z
    .object({
      status: z.enum(["OK", "FAILING"]).meta({ description: "FAILING if and only if there is a reason." }),
      checkedAt: time(),
      reasons: z.array(reasonBody()),
      networks: z.array(networkBody()).meta({ description: "Every network that has a source or was ever watched." }),
      cron: z.object({
        lastRunAt: time()
          .nullable()
          .meta({ description: "When the scheduled jobs last started; they run every minute." }),
      }),
      database: z.object({
        bytes: z.int(),
        limitBytes: z.int().meta({ description: "The setting `DATABASE_LIMIT_GB`, in bytes." }),
      }),
      invoices: z.object({
        oldestDueAt: time().nullable().meta({
          description:
            "The earliest `expiresAt` of the open invoices that have reached it. The sweep settles these invoices.",
        }),
        unsettled: z.int().meta({ description: "Invoices that cannot be settled; the log names them." }),
      }),
      deliveries: queueBody("Webhook deliveries."),
      receipts: queueBody("Receipts sent by mail."),
      mails: queueBody("Invitations and notices to teams."),
      alerts: alertProofBody(),
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
            .meta({ description: "When the network's source stopped answering; null while it answers" }),
          askedAgainAt: z.iso.datetime().nullable().meta({
            description:
              "When the first of the network's sources is asked again, if none may be asked now because all failed or refuse requests; null while one may be asked",
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
