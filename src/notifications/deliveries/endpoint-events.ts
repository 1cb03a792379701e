// Data of the events about endpoints.
import type { WebhookId } from "../../lib/ids.ts";

export interface EndpointEvents {
  readonly "webhook.endpoint_disabled": {
    readonly webhookId: WebhookId;
    readonly url: string;
    readonly reason: "GONE" | "FAILING";
    readonly failuresInRow: number;
    readonly failingSince: string | null;
  };
  readonly ping: { readonly webhookId: WebhookId };
}
