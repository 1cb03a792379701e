// The data of API key events.
import type { ApiKeyId } from "../../lib/ids.ts";
import type { apiKeyBodyOf } from "./api-key-body.ts";

interface OfApiKey {
  readonly apiKeyId: ApiKeyId;
  readonly apiKey: ReturnType<typeof apiKeyBodyOf>;
}

export interface ApiKeyEvents {
  readonly "api_key.created": OfApiKey;
  readonly "api_key.rotated": OfApiKey;
  readonly "api_key.deleted": OfApiKey;
}
