// Writes docs/events.md (`npm run docs:events`) from the types, rules and examples in the Worker's own code.
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
  return [INTRODUCTION, await requestText(), answerText(), READING].join("\n\n");
}

const INTRODUCTION = `<!-- Written by \`npm run docs:events\` from the code; do not edit. -->
# Events

Every change is recorded as an event, in the same transaction as the change, and delivered to every endpoint that subscribes to it.
Paths below are relative to \`/api/v1/merchants/merchant/{merchantId}\`.`;

async function requestText(): Promise<string> {
  const secret = webhookSecret(Uint8Array.from({ length: 32 }, (_, n) => n));
  const headers = Object.entries(await signedHeaders({ ...SIGNED, secrets: [secret] }));
  return `## The request

Each delivery is a POST to your endpoint with these headers. The body is the event, the same text as that of \`GET /events/{id}\`:

${fenced("http", [...headers.map(([name, value]) => `${name}: ${value}`), "", SIGNED.body].join("\n"))}

- \`id\` is the same on every attempt and for every endpoint. \`event\` repeats \`type\`, for consumers of the older name. \`timestamp\` is the time of the change.
- Amounts are decimal strings. New members may be added; no member changes its meaning within one \`apiVersion\`.
- An event has less than ${MAX_EVENT_BYTES / 1_000} KB. It carries an invoice's newest 20 payments and timeline items. If that is still too large, more is left out,
  and \`data.truncated\` names what: then read the invoice.

## Verify

Verify the signature over the received bytes of the body, before parsing them. Use either form. Compare in constant time, and refuse a \`t\` or
\`webhook-timestamp\` that differs from your clock by more than five minutes.

- \`webhook-signature\`: [Standard Webhooks](https://www.standardwebhooks.com). \`v1,\` and the base64 of HMAC-SHA256 over \`{webhook-id}.{webhook-timestamp}.{body}\`;
  the key is the base64 part of your secret, decoded. While a secret is rotated there are several, separated by spaces; one match is enough.
- \`x-signature\`: \`t={seconds},v1={hex}\`, HMAC-SHA256 over \`{t}.{body}\`; the key is the whole text of your secret, \`whsec_\` included. There are several \`v1=\` while a secret is rotated.

The request above is signed with \`${secret}\`: a correct verifier accepts it, except for its time.`;
}

function answerText(): string {
  return `## Answer

Any 2xx within the endpoint's \`timeout\` is a success, whatever its body. So store the event, answer, and process it afterwards. Everything else
is a failure, including a redirect, which is not followed. The first attempt is made at once. A failed one is retried after ${SCHEDULE.slice(1).map(duration).join(", ")}, each
up to 20 % sooner or later (\`retryCount\` is the number of retries). A \`Retry-After\` is honoured up to 24 h. **410** switches the endpoint off.

After ${MANY_FAILURES} failures in a row an endpoint is only probed, with one delivery every 15 minutes. After five days with only failures it is switched
off; every owner and admin gets a mail, and your other endpoints get \`webhook.endpoint_disabled\`.

**While an endpoint is off** nothing is sent to it: deliveries that were pending, and every event since it was switched off, by us or
by you (\`disabledAt\`), wait for 30 days. Switch it on again with \`PATCH isActive\` and it gets all of them, oldest first, each event once. The
subscription is checked when an event happens: a change of \`events\` applies from then on, also while the endpoint is off. An endpoint that was created
switched off gets no events until it is first switched on. For events older than 30 days use \`replay\`, below.`;
}

/** The section on how a consumer should process events. */
const READING = `## Order and duplicates

Every event is delivered at least once, in no guaranteed order: a retried event may arrive after later events.

1. **Process each \`id\` once.** Store the ids that you have processed, in the same transaction as your own changes.
2. **Drop older events of an invoice.** \`sequence\` increases within an invoice; ignore an event with a lower one than you have already seen.
   Then use \`data.invoice.status\`, not \`type\`: the newest event contains the current state, whatever its type.
3. **When in doubt, read the invoice.** \`GET /invoices/{id}\` returns its current state.

## Send again

\`GET /webhooks/{id}/deliveries\` is the log of 30 days: each delivery with its request, the answer and the time that it took.
\`POST /webhooks/{id}/deliveries/{deliveryId}/redeliver\` sends one again, at once. \`POST /webhooks/{id}/replay {"from": "...", "to": "...", "types": ["invoice.*"]}\`
sends all events of a time range again: at most 10,000, 20 a second, and ten replays an hour for a merchant. Without \`types\` it uses the endpoint's subscription. Both start a new retry schedule and keep the ids.

## Poll instead

You can also poll without an endpoint: \`GET /events?after=0\` returns the oldest kept events, and \`nextCursor\` is always the next \`after\`.

\`\`\`js
let after = await load() ?? "0";
for (;;) {
  const { data, nextCursor } = await get(\`/events?limit=100&after=\${after}\`);
  for (const event of data) await handle(event);
  await save(after = nextCursor);
  if (data.length === 0) await sleep(5_000);
}
\`\`\`

Events come in commit order, so none is missed; filter them with \`type\` and \`invoiceId\`. They are kept for 90 days. An \`after\` that is no longer
kept is refused with 404 EVENT_NOT_FOUND: start with 0 again, and process each id once.

## Types

A subscription names a type, a domain (\`invoice.*\`) or everything (\`*\`). A \`?\` marks an optional member.`;

if (import.meta.main) writeFileSync(CATALOGUE, await eventCatalogue());
