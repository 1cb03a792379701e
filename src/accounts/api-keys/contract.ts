// The wire of API keys (decisions 8).
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
    .refine(areDistinct, "must not name a permission twice")
    .meta({ description: "Names in upper snake case, of those that such a key may hold and your own role has." });

/** An empty list would be a key that nobody can use. */
const allowedIps = () =>
  z
    .array(z.string().max(60).refine(isIpRange, "must be an IP address or a CIDR range"))
    .min(1)
    .max(100)
    .refine(areDistinct, "must not name a range twice")
    .nullable()
    .meta({
      description: "Addresses and CIDR ranges from which the key works; null for any.",
      examples: [["192.0.2.0/24"]],
    });

const expiresAt = () =>
  z.iso
    .datetime({ offset: true, error: "must be an ISO 8601 time" })
    .transform((value) => Date.parse(value))
    .nullable()
    .meta({ description: "When the key stops working, in the future; null for never." });

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
    .refine(isAnyGiven, "must name name or allowedIps");

export const rotateApiKeyBody = () =>
  z.strictObject({
    overlapHours: z
      .int()
      .min(0)
      .max(72)
      .meta({ description: "How long the old secret goes on working; 0 ends it at once." }),
  });

export const listApiKeysQuery = () =>
  z.object({
    ...listQuery(),
    search: z.string().min(1).max(200).optional().meta({ description: "A prefix of the name, or an exact id." }),
  });

function areDistinct(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}

// ---- answers

export const apiKeyBody = () =>
  z
    .object({
      id: z.string(),
      merchantId: z.string(),
      name: z.string(),
      kind: z.enum(["SECRET", "PUBLIC"]),
      display: z.string().meta({ description: "What may be shown of the secret.", examples: ["sk_jtkJ...9Zq2"] }),
      permissions: z.array(z.string()),
      allowedIps: z.array(z.string()).nullable(),
      expiresAt: time().nullable(),
      lastUsedAt: time().nullable().meta({ description: "Noted at most once a minute." }),
      rotatedUntil: time().nullable().meta({ description: "How long the secret before this one still works." }),
      createdAt: time(),
      createdBy: z.string().nullable().meta({ description: "Who created it; it outlives their membership." }),
    })
    .meta({ title: "ApiKey" });

export const newApiKeyBody = () =>
  apiKeyBody()
    .extend({ secret: z.string().meta({ description: "The key itself: shown this once, and stored nowhere." }) })
    .meta({ title: "NewApiKey" });

export const apiKeyListBody = () => listBody(apiKeyBody()).meta({ title: "ApiKeyList" });
