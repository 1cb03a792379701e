// The wire format of API keys (decisions 8).
import * as z from "zod";
import { isAnyGiven, textField, time } from "../../lib/fields.ts";
import { listBody, listQuery } from "../../lib/pagination.ts";
import { isIpRange } from "../auth/ip-allow-list.ts";
import { KEY_PERMISSION_NAMES } from "./grant.ts";

const name = () => textField(200).meta({ examples: ["Shop server"] });

const permissions = () =>
  z
    .array(z.enum(KEY_PERMISSION_NAMES))
    .min(1)
    // A list that is too long gets one error about its length, instead of one for each unknown name.
    .max(KEY_PERMISSION_NAMES.length)
    .refine(areDistinct, "must not contain a permission twice")
    .meta({
      description:
        "Names in upper snake case. This kind of key must be allowed to have each of them, and your own role must have them too.",
    });

/** At least one range: a key with an empty list could never be used. */
const allowedIps = () =>
  z
    .array(z.string().max(60, { abort: true }).refine(isIpRange, "must be an IP address or a CIDR range"))
    .min(1)
    .max(100)
    .refine(areDistinct, "must not contain a range twice")
    .nullable()
    .meta({
      description: "Addresses and CIDR ranges from which the key works; null allows any address.",
      examples: [["192.0.2.0/24"]],
    });

const expiresAt = () =>
  z.iso
    .datetime({ offset: true, error: "must be an ISO 8601 time" })
    .transform((value) => Date.parse(value))
    .nullable()
    .meta({ description: "When the key stops working, a time in the future; null if it never expires." });

export const createApiKeyBody = () =>
  z.strictObject({
    name: name(),
    kind: z.enum(["SECRET", "PUBLIC"]).meta({ description: "SECRET (sk_) for servers, PUBLIC (pk_) for browsers." }),
    permissions: permissions(),
    expiresAt: expiresAt().optional(),
    allowedIps: allowedIps().optional(),
  });

export const updateApiKeyBody = () =>
  z
    .strictObject({ name: name().optional(), allowedIps: allowedIps().optional() })
    .refine(isAnyGiven, "must have name or allowedIps");

export const rotateApiKeyBody = () =>
  z.strictObject({
    overlapHours: z
      .int()
      .min(0)
      .max(72)
      .meta({ description: "How long the old secret still works; with 0 it stops at once." }),
  });

export const listApiKeysQuery = () =>
  z.object({
    ...listQuery(),
    search: z.string().min(1).max(200).optional().meta({ description: "A prefix of the name, or an exact id." }),
  });

function areDistinct(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}

// ---- responses

export const apiKeyBody = () =>
  z
    .object({
      id: z.string(),
      merchantId: z.string(),
      name: z.string(),
      kind: z.enum(["SECRET", "PUBLIC"]),
      display: z
        .string()
        .meta({ description: "A short form of the secret, to recognise the key.", examples: ["sk_jtkJ...9Zq2"] }),
      permissions: z.array(z.string()),
      allowedIps: z.array(z.string()).nullable(),
      expiresAt: time().nullable(),
      lastUsedAt: time().nullable().meta({ description: "Updated at most once a minute." }),
      rotatedUntil: time()
        .nullable()
        .meta({ description: "The time at which the previous secret stops working; null if there is none." }),
      createdAt: time(),
      createdBy: z
        .string()
        .nullable()
        .meta({ description: "The user who created the key. The key still works after they leave the team." }),
      givenTo: z
        .string()
        .nullable()
        .meta({ description: "The origin of the application that asked for the key; null if none did." }),
      expiresUnusedAt: time().nullable().meta({
        description: "When the key stops working if it has not been used by then; null once it has been used.",
      }),
    })
    .meta({ title: "ApiKey" });

export const newApiKeyBody = () =>
  apiKeyBody()
    .extend({
      secret: z.string().meta({ description: "The key itself. Shown only in this response; it is not stored." }),
    })
    .meta({ title: "NewApiKey" });

export const apiKeyListBody = () => listBody(apiKeyBody()).meta({ title: "ApiKeyList" });
