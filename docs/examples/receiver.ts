// A receiver of Edgetill's webhooks: verifies each event, acts on it once, and answers at once. WEBHOOK_SECRET=whsec_... npm run receiver
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { dirname } from "node:path";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

interface WebhookEvent {
  id: string;
  type: string;
  sequence: number | null; // increases with each event of an invoice; null for an event without an invoice
  data: { invoice?: { id: string; rawAmount: string; currency: string; status: string } };
}

const { WEBHOOK_SECRET = "", PORT = "4242", RECEIVER_STATE = ".edgetill/receiver.ids" } = process.env;
const url = `http://127.0.0.1:${PORT}/webhooks`;
const MAX_LENGTH = 65_536; // an event is smaller than 20 KB

// During a rotation, set both the old and the new secret, separated by a space.
const webhooks = WEBHOOK_SECRET.split(/\s+/).flatMap((secret) => (secret === "" ? [] : [new Webhook(secret)]));
if (webhooks.length === 0) {
  console.error(`WEBHOOK_SECRET is not set. Register ${url} and start again with the secret of the answer:
  curl -sS $BASE/webhooks -H "x-api-key: $KEY" -H 'content-type: application/json' -d '{"url":"${url}","events":["*"]}'`);
  process.exit(1);
}

// The processed events, one per line: `evt_... inv_... 4`. A shop would use a table, written in the same transaction as the order.
const processed = new Set<string>();
const newest = new Map<string, number>();
mkdirSync(dirname(RECEIVER_STATE), { recursive: true });
appendFileSync(RECEIVER_STATE, "\n"); // ends a line that a crash cut off
for (const line of readFileSync(RECEIVER_STATE, "utf8").split("\n")) {
  const [eventId, invoiceId, sequence] = line.split(" ");
  if (eventId && invoiceId && sequence) remember(eventId, invoiceId, Number(sequence));
}

function remember(eventId: string, invoiceId: string, sequence: number): void {
  processed.add(eventId);
  newest.set(invoiceId, Math.max(sequence, newest.get(invoiceId) ?? 0));
}

/** Acts on a genuine event. Events arrive at least once, and in any order. */
function act({ id, type, sequence, data: { invoice } }: WebhookEvent): void {
  const about = invoice ? `${invoice.id} ${invoice.rawAmount} ${invoice.currency} ${invoice.status}` : id;
  if (processed.has(id)) {
    console.log(`${type} ${about} again, ignored`);
    return;
  }
  const known = newest.get(invoice?.id ?? "-") ?? 0;
  const order = sequence === null ? "" : `, sequence ${sequence}`;
  const stale = sequence !== null && sequence < known ? `, stale: ${known} is known` : "";
  appendFileSync(RECEIVER_STATE, `${id} ${invoice?.id ?? "-"} ${sequence ?? 0}\n`);
  remember(id, invoice?.id ?? "-", sequence ?? 0);
  // Here a shop ships the order, once, when the status is PAID or OVERPAID. A stale event shows an older state than one already received.
  console.log(`${type} ${about} (verified${order}${stale})`);
}

/** Whether one of the secrets signed exactly this body, within the last five minutes. */
function isGenuine(body: string, given: IncomingMessage["headers"]): boolean {
  const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
  return webhooks.some((webhook) => {
    try {
      webhook.verify(body, headers, { jsonParse: false });
      return true;
    } catch (error) {
      if (error instanceof WebhookVerificationError) return false;
      throw error;
    }
  });
}

/** The status to answer with: 2xx means that the event need not be sent again. */
async function receive(request: IncomingMessage): Promise<number> {
  let body = "";
  for await (const piece of request.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    body += piece;
    if (body.length > MAX_LENGTH) return 413;
  }
  if (!isGenuine(body, request.headers)) return 400;
  act(JSON.parse(body));
  return 204;
}

const server = createServer(async (request, response) => {
  const status = await receive(request).catch((error) => {
    console.error(error);
    return 500; // Edgetill sends the event again
  });
  response.writeHead(status, status === 413 ? { connection: "close" } : {}).end();
});
server.on("error", ({ message }) => {
  console.error(`${message}. PORT names another port.`);
  process.exit(1);
});
server.listen(Number(PORT), "127.0.0.1", () => {
  console.log(`Listening on ${url}, with ${webhooks.length} secret(s); ${processed.size} event(s) came before.`);
  console.log("Next: create an invoice and pay it, or POST to .../webhooks/{id}/ping. Each event is a line here.");
});
