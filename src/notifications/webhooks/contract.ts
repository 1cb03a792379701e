// Wire format of endpoints.
import * as z from "zod";
import { BY_HAND } from "../../commerce/greenfield/webhook-type.ts";
import { isAnyGiven, textField, time } from "../../lib/fields.ts";
import { MOST_RETRIES, SCHEDULED_RETRIES } from "./retry-schedule.ts";
import { nearestSubscription, SUBSCRIPTIONS } from "./subscription.ts";
import { isTranslatable, NOT_TRANSLATABLE } from "./webhook.ts";

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
    // Names only the first unknown type: comparing every unknown type with all known ones would cost too much for a body full of them.
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

const format = () =>
  z.enum(["STANDARD", "GREENFIELD"]).meta({
    description:
      "GREENFIELD is the format of BTCPay Server, for its shop plugins: `BTCPay-Sig` signs the body, and only events that have a type in that format can be subscribed to. The format cannot be changed.",
  });

/** An HMAC key that a receiver has chosen, used as text without decoding. BTCPay Server makes keys of 128 bits in base58: 21 or 22 characters. */
const chosenSecret = () =>
  z
    .string()
    .regex(/^[\x21-\x7e]{20,128}$/, "must be 20 to 128 visible ASCII characters")
    .meta({
      description:
        "Only with GREENFIELD: a secret that the receiver has chosen. If absent, one is generated, which is better.",
    });

export const createWebhookBody = () =>
  z
    .strictObject({
      ...fields(),
      events: fields().events.optional().meta({
        description:
          "Event types to receive; `invoice.*` means a whole domain, `*` means all. May be left out only with GREENFIELD; the default is then the events that report an invoice as settled.",
      }),
      format: format().default("STANDARD"),
      secret: chosenSecret().optional(),
      description: fields().description.default(null),
      isActive: fields().isActive.default(true),
      retryCount: fields().retryCount.default(SCHEDULED_RETRIES),
      timeout: fields().timeout.default(15_000),
    })
    // The API reference marks `events` as required, although it may be left out with GREENFIELD: only someone who creates a plugin's endpoint by hand
    // does so.
    .meta({ required: ["url", "events"] })
    .transform(({ timeout: timeoutMs, ...rest }, context) => {
      const isGreenfield = rest.format === "GREENFIELD";
      const events = rest.events ?? (isGreenfield ? JSON.stringify(BY_HAND) : "");
      const problem = (path: string, message: string) => {
        context.addIssue({ code: "custom", path: [path], message });
        return z.NEVER;
      };
      if (events === "") return problem("events", "is required");
      if (isGreenfield && !isTranslatable(events)) return problem("events", NOT_TRANSLATABLE);
      if (!isGreenfield && rest.secret !== undefined) return problem("secret", "is for the format GREENFIELD only");
      return { ...rest, events, timeoutMs };
    });

/** Every member is optional. A setting that is left out keeps its value. */
export const updateWebhookBody = () =>
  z
    .strictObject(fields())
    .partial()
    .refine(isAnyGiven, "must have at least one field")
    .transform(({ timeout: timeoutMs, ...rest }) => ({ ...rest, timeoutMs }));

// ---- responses

export const webhookBody = () =>
  z
    .object({
      id: z.string(),
      merchantId: z.string(),
      url: z.string().meta({ format: "uri" }),
      events: z.array(z.string()),
      description: z.string().nullable(),
      format: format(),
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
          "Why we switched the endpoint off: GONE after a 410 response, FAILING after five days with only failures.",
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
