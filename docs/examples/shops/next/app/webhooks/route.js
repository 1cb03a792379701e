import { verifyWebhook, WebhookVerificationError } from "edgetill";
import { record } from "../../shop.js";

export async function POST(request) {
  const payload = new Uint8Array(await request.arrayBuffer()); // the raw bytes, because the signature is over them
  // During a rotation, WEBHOOK_SECRET has both the old and the new secret, separated by a space.
  const secrets = (process.env.WEBHOOK_SECRET ?? "").split(" ");
  try {
    record(await verifyWebhook({ payload, headers: request.headers, secrets }));
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error; // 500: Edgetill sends the event again
    return new Response(null, { status: 400 });
  }
  return new Response(null, { status: 204 }); // 2xx means that the event need not be sent again
}
