import { verifyWebhook, WebhookVerificationError } from "edgetill";
import { record } from "../../shop.js";

export async function POST(request) {
  const payload = new Uint8Array(await request.arrayBuffer()); // the bytes as they came: they are what is signed
  // While a secret is rotated WEBHOOK_SECRET has the old one and the new one, with a space between.
  const secrets = (process.env.WEBHOOK_SECRET ?? "").split(" ");
  try {
    record(await verifyWebhook({ payload, headers: request.headers, secrets }));
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error; // 500: it comes again
    return new Response(null, { status: 400 });
  }
  return new Response(null, { status: 204 }); // 2xx says that it need not come again
}
