// Endpoints that never accept an event, next to a shop's own: one that does not answer, one that refuses, and one that is gone. They must delay no
// other endpoint, and their deliveries must end in the delivery log.
import { randomBytes } from "node:crypto";
import * as z from "zod";
import type { Shop } from "./book.ts";
import type { Receiver } from "./internet.ts";
import { jsonIn } from "./json.ts";
import type { Opening } from "./open-shop.ts";

/**
 * The settings of each endpoint. The first two get few events, and each delivery has one retry after 5 s, so that it fails for good within a short
 * day.
 */
const ENDPOINTS = [
  { manner: "silent", settings: { events: ["invoice.cancelled"], retryCount: 1, timeout: 1_000 } },
  { manner: "refusing", settings: { events: ["invoice.cancelled"], retryCount: 1 } },
  { manner: "gone", settings: { events: ["*"] } },
] as const;

const SECRET = z.object({ secret: z.string() });

/** Registers the endpoints of this shop. It is the `nth` of `shops` shops, over which the endpoints are distributed. */
export async function openDeadEndpoints(
  { client, world, session }: Opening,
  { shop, nth, shops }: { readonly shop: Shop; readonly nth: number; readonly shops: number },
): Promise<readonly Receiver[]> {
  const receivers: Receiver[] = [];
  for (const [at, { manner, settings }] of ENDPOINTS.entries()) {
    if (at % shops !== nth) continue;
    const receiver = world.receiver(manner);
    const { text } = await client.good({
      route: "POST /webhooks",
      path: `/api/v1/merchants/merchant/${shop.merchantId}/webhooks`,
      method: "POST",
      headers: { ...session, "idempotency-key": randomBytes(8).toString("hex") },
      body: { url: receiver.url, ...settings },
    });
    receiver.secret = jsonIn(SECRET, text).secret;
    receivers.push(receiver);
  }
  return receivers;
}
