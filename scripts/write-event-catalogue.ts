// Writes docs/events.md (`npm run docs:events`) from the types, rules and examples that the Worker itself is made of.
import { writeFileSync } from "node:fs";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../src/lib/time.ts";
import { MANY_FAILURES, SCHEDULE } from "../src/notifications/webhooks/retry-schedule.ts";
import { webhookSecret } from "../src/notifications/webhooks/secret.ts";
import { signedHeaders } from "../src/notifications/webhooks/signature.ts";
import { EVENT_TYPES, type EventType, MAX_EVENT_BYTES } from "../src/platform/events/event.ts";
import { EXAMPLES, SIGNED } from "./event-examples.ts";
import { EVENT_TEXTS } from "./event-texts.ts";

export const CATALOGUE = "docs/events.md";

const DOMAINS = {
  invoice: "Invoices",
  payment: "Payments",
  wallet: "Wallets",
  team: "Team",
  api_key: "API keys",
  webhook: "Endpoints",
  ping: "Ping",
} as const satisfies Record<DomainOf<EventType>, string>;

type DomainOf<T extends string> = T extends `${infer Domain}.${string}` ? Domain : T;

/** The file's text. */
export async function eventCatalogue(): Promise<string> {
  const domains = Object.entries(DOMAINS).map(([domain, title]) => domainText(domain, title));
  return `${[await introduction(), ...domains].join("\n\n")}\n`;
}

function domainText(domain: string, title: string): string {
  const types = EVENT_TYPES.filter((type) => type === domain || type.startsWith(`${domain}.`));
  const rows = types.map((type) => `| \`${type}\` | ${EVENT_TEXTS[type].when} | ${names(type)} |`);
  const meanings = new Map(
    types.flatMap((type) => members(type).map(([name, text]) => [`${bare(name)} ${text}`, [name, text]])),
  );
  const members_ = [...meanings.values()].map(([name = "", text]) => `| \`${bare(name)}\` | ${text} |`);
  const examples = types.flatMap((type) => exampleText(type));
  return [
    `### ${title}`,
    ["| type | sent when | `data` |", "|---|---|---|", ...rows].join("\n"),
    ["| member | is |", "|---|---|", ...members_].join("\n"),
    ...examples,
  ].join("\n\n");
}

function exampleText(type: EventType): string[] {
  const text = EXAMPLES.get(type);
  return text === undefined
    ? []
    : [`An example of \`${type}\`:`, fenced("json", JSON.stringify(JSON.parse(text), null, 2))];
}

function members(type: EventType): [string, string][] {
  return Object.entries(EVENT_TEXTS[type].data);
}

const bare = (name: string) => name.replace("?", "");
const names = (type: EventType) =>
  members(type)
    .map(([name]) => `\`${name}\``)
    .join(", ");
const fenced = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;

function duration(seconds: number): string {
  const ms = seconds * 1_000;
  if (ms < MINUTE_MS) return `${seconds} s`;
  if (ms < HOUR_MS) return `${ms / MINUTE_MS} min`;
  return ms <= DAY_MS ? `${ms / HOUR_MS} h` : `${ms / DAY_MS} days`;
}

async function introduction(): Promise<string> {
  const secret = webhookSecret(Uint8Array.from({ length: 32 }, (_, n) => n));
  const headers = Object.entries(await signedHeaders({ ...SIGNED, secrets: [secret] }));
  return `<!-- Written by \`npm run docs:events\` from the code; do not edit. -->
# Events

Whatever happens is an event: a row, written in the same transaction as the change, and owed to every endpoint that subscribes to it.
Paths below are relative to \`/api/v1/merchants/merchant/{merchantId}\`.

## What is sent

A POST to your endpoint, with these headers and the event as its body, which is the very text of \`GET /events/{id}\`:

${fenced("http", [...headers.map(([name, value]) => `${name}: ${value}`), "", SIGNED.body].join("\n"))}

- \`id\` is the same on every attempt, to every endpoint. \`event\` repeats \`type\`, for consumers of the older name. \`timestamp\` is when it happened.
- Amounts are decimal strings. New members may come; none changes its meaning within one \`apiVersion\`.
- An event has less than ${MAX_EVENT_BYTES / 1_000} KB. Of an invoice it carries the newest 20 payments and timeline items; where that is still too much, more is cut,
  and \`data.truncated\` names it: read the invoice then.

## Verify

Over the bytes of the body as they came, before anything parses them. Either form will do; compare in constant time, and refuse a \`t\` or
\`webhook-timestamp\` that is more than five minutes off.

- \`webhook-signature\`: [Standard Webhooks](https://www.standardwebhooks.com). \`v1,\` and the base64 of HMAC-SHA256 over \`{webhook-id}.{webhook-timestamp}.{body}\`;
  the key is the base64 part of your secret, decoded. Several stand there, divided by spaces, while a secret is rotated: one that fits is enough.
- \`x-signature\`: \`t={seconds},v1={hex}\`, HMAC-SHA256 over \`{t}.{body}\`; the key is the whole text of your secret, \`whsec_\` included. Several \`v1=\` while a secret is rotated.

The request above is signed with \`${secret}\`: a verifier that accepts it is right, but for the time.

## Answer

Any 2xx within the endpoint's \`timeout\` is success, whatever its body. So write the event down, answer, and work afterwards. Everything else
is a failure, a redirect too, which is not followed. The first attempt is made at once; one that fails is followed by another after ${SCHEDULE.slice(1).map(duration).join(", ")}, each
up to 20 % sooner or later (\`retryCount\` says how many). A \`Retry-After\` is honoured up to 24 h. **410** switches the endpoint off.

After ${MANY_FAILURES} failures in a row an endpoint is only probed, every 15 minutes with one delivery. After five days of nothing but failures it is switched
off, with a mail to every owner and admin and \`webhook.endpoint_disabled\` to the others.

**While an endpoint is off** nothing is sent to it, and nothing is lost: what it was still owed, and every event from the moment it was switched off, by us or
by you (\`disabledAt\`), waits for 30 days. Switch it on again with \`PATCH isActive\` and it gets all of that, oldest first, each event once. Which
types it wants is decided when an event happens: a change of \`events\` holds from then on, also while it is off. An endpoint that was created
switched off is owed nothing until it is first switched on. For what is older than 30 days there is \`replay\`, below.

## Order and duplicates

Every event comes at least once, and nothing promises an order: an attempt that failed comes later than what happened after it.

1. **Act once for each \`id\`.** Keep the ids that you have processed, in the transaction of what you do about them.
2. **Of an invoice, drop what is older than what you know.** \`sequence\` grows within an invoice; an event with a lower one than you have seen of it is old news.
   Then go by \`data.invoice.status\` and not by \`type\`: the newest event says all that the older ones did, but under a name of its own.
3. **When in doubt, read the invoice.** \`GET /invoices/{id}\` is how it stands now.

## Send again

\`GET /webhooks/{id}/deliveries\` is the log: each delivery, with what was sent, what was answered and how long it took, for 30 days.
\`POST /webhooks/{id}/deliveries/{deliveryId}/redeliver\` sends one again, at once. \`POST /webhooks/{id}/replay {"from": "...", "to": "...", "types": ["invoice.*"]}\`
sends all events of a range of times again, at most 10,000 of them and 20 a second, and ten times in an hour for a merchant; without \`types\` those that the endpoint subscribes to. Both begin the schedule anew, and keep the ids.

## Poll instead

No endpoint is needed: \`GET /events?after=0\` gives the oldest events that are kept, and \`nextCursor\` is always the next \`after\`.

\`\`\`js
let after = await load() ?? "0";
for (;;) {
  const { data, nextCursor } = await get(\`/events?limit=100&after=\${after}\`);
  for (const event of data) await handle(event);
  await save(after = nextCursor);
  if (data.length === 0) await sleep(5_000);
}
\`\`\`

The order is that of the commits, so nothing is missed; \`type\` and \`invoiceId\` narrow it. Events are kept for 90 days. An \`after\` that is no longer
kept answers 404 EVENT_NOT_FOUND: begin with 0 again, and act once for each id.

## Types

A subscription names a type, a domain (\`invoice.*\`) or everything (\`*\`). A \`?\` marks what is not always there.`;
}

if (import.meta.main) writeFileSync(CATALOGUE, await eventCatalogue());
