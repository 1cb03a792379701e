// Wire format of endpoints.
import * as z from "zod";
import { isAnyGiven, textField, time } from "../../lib/fields.ts";
import { MOST_RETRIES, SCHEDULED_RETRIES } from "./retry-schedule.ts";
import { nearestSubscription, SUBSCRIPTIONS } from "./subscription.ts";

const fields = () => ({
  // A bad URL has its own refusal, with the reason.
  url: z.string().meta({
    description: "An https URL on port 443 to a public host name, without user name, IP address or fragment.",
    examples: ["https://shop.example.com/webhooks/edgetill"],
    maxLength: 2_048,
  }),
  events: z
    .array(z.string().meta({ enum: [...SUBSCRIPTIONS] }))
    .min(1)
    .max(50)
    // Names only the first unknown type: finding the nearest costs too much for a body full of them.
    .transform((names, context) => {
      const at = names.findIndex((name) => !SUBSCRIPTIONS.includes(name));
      const unknown = names[at];
      if (unknown === undefined) return JSON.stringify([...new Set(names)]);
      const nearest = nearestSubscription(unknown);
      const hint = nearest === undefined ? "" : `; the closest is ${nearest}`;
      context.addIssue({ code: "custom", path: [at], message: `is not an event type${hint}` });
      return z.NEVER;
    })
    .meta({
      description: "Event types to receive; `invoice.*` means a whole domain, `*` means all.",
      examples: [["invoice.*", "payment.confirmed"]],
    }),
  description: textField(500, 0).nullable(),
  isActive: z.boolean(),
  retryCount: z.int().min(0).max(MOST_RETRIES).meta({ description: "Number of retries after the first attempt." }),
  timeout: z.int().min(1_000).max(30_000).meta({ description: "Milliseconds to wait for your response." }),
});

export const createWebhookBody = () =>
  z
    .strictObject({
      ...fields(),
      description: fields().description.default(null),
      isActive: fields().isActive.default(true),
      retryCount: fields().retryCount.default(SCHEDULED_RETRIES),
      timeout: fields().timeout.default(15_000),
    })
    .transform(({ timeout: timeoutMs, ...rest }) => ({ ...rest, timeoutMs }));

/** Every member is optional: an absent one keeps its value. */
export const updateWebhookBody = () =>
  z
    .strictObject(fields())
    .partial()
    .refine(isAnyGiven, "must have at least one field")
    .transform(({ timeout: timeoutMs, ...rest }) => ({ ...rest, timeoutMs }));

// ---- answers

export const webhookBody = () =>
  z
    .object({
      id: z.string(),
      merchantId: z.string(),
      url: z.string().meta({ format: "uri" }),
      events: z.array(z.string()),
      description: z.string().nullable(),
      isActive: z.boolean(),
      retryCount: z.int(),
      timeout: z.int(),
      webhookSecrets: z
        .array(
          z.object({
            id: z.string(),
            webhookId: z.string(),
            secretKeyPreview: z.string().meta({ examples: ["whsec_jtkJ...9Zq="] }),
            isActive: z.boolean(),
            expiresAt: time().nullable(),
          }),
        )
        .meta({ description: "Newest first. Each delivery is signed with every active secret." }),
      disabledReason: z.enum(["GONE", "FAILING"]).nullable().meta({
        description:
          "Why we switched the endpoint off: GONE after an answer 410, FAILING after five days of failures only.",
      }),
      disabledAt: time().nullable().meta({
        description:
          "When the endpoint was switched off. Events since then wait up to 30 days and are sent when it is switched on again.",
      }),
      failuresInRow: z.int(),
      failingSince: time().nullable(),
      createdAt: time(),
      updatedAt: time(),
    })
    .meta({ title: "Webhook" });

export const newWebhookBody = () =>
  webhookBody()
    .extend({
      secret: z.string().meta({
        description: "The secret with which to verify signatures. It is shown only once.",
        examples: ["whsec_..."],
      }),
    })
    .meta({ title: "NewWebhook" });

export const webhookListBody = () => z.array(webhookBody());

export const pingBody = () =>
  z
    .object({
      id: z.string(),
      eventId: z.string(),
      eventType: z.literal("ping"),
      status: z.literal("PENDING"),
      createdAt: time(),
    })
    .meta({ title: "Ping" });
