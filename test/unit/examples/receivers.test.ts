// Runs the receivers of docs/examples as processes. Both must print exactly the same for genuine, forged, late, repeated and broken deliveries, so
// each test runs for both.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeId, newUlid } from "../../../src/lib/ids.ts";
import { webhookSecret } from "../../../src/notifications/webhooks/secret.ts";
import { signedHeaders } from "../../../src/notifications/webhooks/signature.ts";
import { eventText } from "../../../src/platform/events/event.ts";
import {
  EXAMPLE_LANGUAGES,
  type ExampleReceiver,
  endExample,
  exampleName,
  isExampleTested,
  startExample,
} from "../../support/example-receiver.ts";

type Headers = Readonly<Record<string, string>>;
type Signer = (signed: { id: string; body: string; secrets: readonly string[]; atMs: number }) => Promise<Headers>;

const SECRET = webhookSecret(randomBytes(32));
const MINUTE_MS = 60_000;

const newId = <P extends "evt" | "inv" | "mer">(prefix: P) => makeId(prefix, newUlid(Date.now(), randomBytes(16)));

/** An event as delivered. */
function sample(type: string, of: { invoiceId?: string; sequence?: number; status?: string } = {}) {
  const { invoiceId, sequence = null, status = "PAID" } = of;
  const invoice = { id: invoiceId, name: "Tea für 2 🫖", rawAmount: "49.900000", currency: "USD", status };
  const data = JSON.stringify(invoiceId === undefined ? { webhookId: "whk_1" } : { invoiceId, invoice });
  const id = newId("evt");
  return { id, body: eventText({ id, type, merchantId: newId("mer"), sequence, data, createdAtMs: Date.now() }) };
}

const byEdgetill: Signer = ({ id: eventId, body, secrets, atMs }) => {
  const timestampSeconds = Math.floor(atMs / 1_000);
  return signedHeaders({ eventId, deliveryId: "dlv_1", webhookId: "whk_1", body, timestampSeconds, secrets });
};
const byStandard: Signer = async ({ id, body, secrets, atMs }) => ({
  "webhook-id": id,
  "webhook-timestamp": String(Math.floor(atMs / 1_000)),
  "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, new Date(atMs), body)).join(" "),
});

interface Delivery {
  readonly event: { readonly id: string; readonly body: string };
  readonly secrets?: readonly string[];
  readonly atMs?: number;
  readonly by?: Signer;
  /** Changes the request after signing. */
  readonly alter?: (sent: { headers: Headers; body: string }) => { headers: Headers; body: string };
}

/** Sends the delivery; returns the status of the response. */
async function deliver(receiver: ExampleReceiver, delivery: Delivery): Promise<number> {
  const { event, secrets = [SECRET], atMs = Date.now(), by = byEdgetill, alter = (sent) => sent } = delivery;
  const { headers, body } = alter({ headers: await by({ ...event, secrets, atMs }), body: event.body });
  const response = await fetch(receiver.url, { method: "POST", headers, body });
  await response.arrayBuffer();
  return response.status;
}

/** The printed lines that contain the text, once everything about the deliveries so far has been printed. */
async function printed(receiver: ExampleReceiver, text: string): Promise<readonly string[]> {
  const last = sample("ping");
  expect(await deliver(receiver, { event: last })).toBe(204);
  await receiver.line(last.id);
  return receiver.lines.filter((line) => line.includes(text));
}

const withHeader = (name: string, value: string): NonNullable<Delivery["alter"]> => {
  return ({ headers, body }) => ({ headers: { ...headers, [name]: value }, body });
};

const REFUSED: readonly (readonly [string, Omit<Delivery, "event">])[] = [
  ["signed with a different secret", { secrets: [webhookSecret(randomBytes(32))] }],
  ["more than five minutes old", { atMs: Date.now() - 5 * MINUTE_MS - 2_000 }],
  ["more than five minutes ahead", { atMs: Date.now() + 60 * MINUTE_MS }],
  ["whose body was changed", { alter: ({ headers, body }) => ({ headers, body: body.replace("49.9", "99.9") }) }],
  ["whose body was truncated", { alter: ({ headers, body }) => ({ headers, body: body.slice(0, -1) }) }],
  ["without a body", { alter: ({ headers }) => ({ headers, body: "" }) }],
  ["with a different id", { alter: withHeader("webhook-id", newId("evt")) }],
  ["with a changed timestamp", { alter: withHeader("webhook-timestamp", String(Math.floor(Date.now() / 1_000) - 1)) }],
  ["with a timestamp that is not a number", { alter: withHeader("webhook-timestamp", "now") }],
  ["with an endless timestamp", { alter: withHeader("webhook-timestamp", "1".repeat(5_000)) }],
  ["with an empty signature", { alter: withHeader("webhook-signature", "v1,") }],
  ["with a signature that is not base64", { alter: withHeader("webhook-signature", "v1,äöü") }],
  ["without any of the three headers", { alter: ({ body }) => ({ headers: {}, body }) }],
  [
    "with a signature of an unknown version",
    {
      alter: ({ headers, body }) =>
        withHeader("webhook-signature", `v2${headers["webhook-signature"]?.slice(2)}`)({ headers, body }),
    },
  ],
];

const folder = mkdtempSync(join(tmpdir(), "edgetill-receivers-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe.for(EXAMPLE_LANGUAGES)("the receiver in %s", (language) => {
  const runs = it.skipIf(!isExampleTested(language));
  const state = join(folder, `${language}.ids`);
  let receiver: ExampleReceiver;

  if (!isExampleTested(language)) it.skip(exampleName(language), () => {});

  beforeAll(async () => {
    if (isExampleTested(language)) receiver = await startExample({ language, secret: SECRET, state });
  });
  afterAll(() => receiver?.kill());

  runs("prints where it listens and what to do next", () => {
    expect(receiver.lines.slice(0, 2)).toEqual([
      `Listening on ${receiver.url}, with 1 secret(s); 0 event(s) came before.`,
      "Next: create an invoice and pay it, or POST to .../webhooks/{id}/ping. Each event is a line here.",
    ]);
  });

  runs.for([
    ["Edgetill", byEdgetill],
    ["standardwebhooks", byStandard],
  ] as const)("accepts an event that %s signed, and prints a line for it", async ([, by]) => {
    const invoiceId = newId("inv");
    const event = sample("invoice.paid", { invoiceId, sequence: 4 });
    expect(await deliver(receiver, { event, by })).toBe(204);
    expect(await printed(receiver, invoiceId)).toEqual([
      `invoice.paid ${invoiceId} 49.900000 USD PAID (verified, sequence 4)`,
    ]);
  });

  runs("prints the id of an event without an invoice", async () => {
    const event = sample("ping");
    expect(await deliver(receiver, { event })).toBe(204);
    expect(await printed(receiver, event.id)).toEqual([`ping ${event.id} (verified)`]);
  });

  runs("accepts a timestamp up to five minutes off, because clocks differ", async () => {
    expect(await deliver(receiver, { event: sample("ping"), atMs: Date.now() - 4 * MINUTE_MS })).toBe(204);
    expect(await deliver(receiver, { event: sample("ping"), atMs: Date.now() + 4 * MINUTE_MS })).toBe(204);
  });

  runs.for(REFUSED)("refuses an event %s, and then accepts the genuine one", async ([, forgery]) => {
    const invoiceId = newId("inv");
    const event = sample("invoice.paid", { invoiceId, sequence: 4 });
    expect(await deliver(receiver, { event, ...forgery })).toBe(400);
    expect(await printed(receiver, invoiceId)).toEqual([]);
    expect(await deliver(receiver, { event })).toBe(204);
    expect(await printed(receiver, invoiceId)).toEqual([expect.stringContaining("(verified")]);
  });

  runs("acts once on an event, however often it arrives, even concurrently", async () => {
    const invoiceId = newId("inv");
    const event = sample("invoice.paid", { invoiceId, sequence: 4 });
    const statuses = await Promise.all(Array.from({ length: 8 }, () => deliver(receiver, { event })));
    expect(new Set(statuses)).toEqual(new Set([204]));
    expect(await deliver(receiver, { event, atMs: Date.now() + MINUTE_MS })).toBe(204);
    const what = `invoice.paid ${invoiceId} 49.900000 USD PAID`;
    expect(await printed(receiver, invoiceId)).toEqual([
      `${what} (verified, sequence 4)`,
      ...Array.from({ length: 8 }, () => `${what} again, ignored`),
    ]);
  });

  runs("calls an event stale only if a later event of the same invoice has arrived", async () => {
    const [invoiceId, other] = [newId("inv"), newId("inv")];
    for (const [of, sequence, status] of [
      [invoiceId, 1, "AWAITING_PAYMENT"],
      [invoiceId, 12, "PAID"],
      [invoiceId, 9, "PENDING"],
      [other, 2, "PENDING"],
      [invoiceId, 13, "PAID"],
    ] as const) {
      const event = sample("invoice.updated", { invoiceId: of, sequence, status });
      expect(await deliver(receiver, { event })).toBe(204);
    }
    expect(await printed(receiver, invoiceId)).toEqual([
      `invoice.updated ${invoiceId} 49.900000 USD AWAITING_PAYMENT (verified, sequence 1)`,
      `invoice.updated ${invoiceId} 49.900000 USD PAID (verified, sequence 12)`,
      `invoice.updated ${invoiceId} 49.900000 USD PENDING (verified, sequence 9, stale: 12 is known)`,
      `invoice.updated ${invoiceId} 49.900000 USD PAID (verified, sequence 13)`,
    ]);
    expect(await printed(receiver, other)).toEqual([expect.stringContaining("(verified, sequence 2)")]);
  });

  runs("refuses a body of more than 64 KB, and survives senders that break off", async () => {
    const { port, hostname } = new URL(receiver.url);
    const send = async (text: string): Promise<string> => {
      const socket = connect(Number(port), hostname);
      let answer = "";
      socket.on("data", (chunk) => (answer += chunk)).on("error", () => {});
      socket.write(text);
      if (!text.includes("65537")) socket.end();
      await once(socket, "close");
      return answer;
    };
    const head = "POST /webhooks HTTP/1.1\r\nhost: receiver\r\nconnection: close\r\ncontent-length: ";
    expect(await send(`${head}65537\r\n\r\n${"x".repeat(65_537)}`)).toMatch(/^(HTTP\/1\.\d 413 .*)?$/s);
    for (const broken of [`${head}100\r\n\r\n{"id`, `${head}-1\r\n\r\n`, `${head}x\r\n\r\n`, "nothing\r\n\r\n", ""]) {
      expect(await send(broken)).not.toMatch(/^HTTP\/1\.\d 2/);
    }
    expect(await deliver(receiver, { event: sample("ping") })).toBe(204);
  });

  runs("accepts either secret and either signature during a rotation", async () => {
    const fresh = webhookSecret(randomBytes(32));
    const both = await startExample({ language, secret: `${SECRET} ${fresh}`, state: `${state}.both` });
    const one = await startExample({ language, secret: ` ${fresh} `, state: `${state}.one` });
    try {
      expect(both.lines[0]).toContain("with 2 secret(s)");
      for (const secrets of [[SECRET], [fresh], [fresh, SECRET]])
        expect(await deliver(both, { event: sample("ping"), secrets })).toBe(204);
      expect(await deliver(one, { event: sample("ping"), secrets: [SECRET, fresh] })).toBe(204);
      expect(await deliver(one, { event: sample("ping"), secrets: [SECRET] })).toBe(400);
    } finally {
      await Promise.all([both.kill(), one.kill()]);
    }
  });

  runs("forgets nothing when it is killed, even in the middle of a line", async () => {
    const [invoiceId, file] = [newId("inv"), `${state}.killed`];
    const first = sample("invoice.created", { invoiceId, sequence: 1, status: "AWAITING_PAYMENT" });
    const third = sample("invoice.paid", { invoiceId, sequence: 3 });
    const cut = sample("ping");
    const before = await startExample({ language, secret: SECRET, state: file });
    for (const event of [first, third]) expect(await deliver(before, { event })).toBe(204);
    await before.kill();
    appendFileSync(file, cut.id);
    const after = await startExample({ language, secret: SECRET, state: file });
    try {
      expect(after.lines[0]).toContain("; 2 event(s) came before.");
      const second = sample("invoice.updated", { invoiceId, sequence: 2, status: "AWAITING_PAYMENT" });
      for (const event of [third, second, cut, first]) expect(await deliver(after, { event })).toBe(204);
      expect(await printed(after, invoiceId)).toEqual([
        `invoice.paid ${invoiceId} 49.900000 USD PAID again, ignored`,
        `invoice.updated ${invoiceId} 49.900000 USD AWAITING_PAYMENT (verified, sequence 2, stale: 3 is known)`,
        `invoice.created ${invoiceId} 49.900000 USD AWAITING_PAYMENT again, ignored`,
      ]);
      expect(await printed(after, cut.id)).toEqual([`ping ${cut.id} (verified)`]);
    } finally {
      await after.kill();
    }
  });

  runs("answers 5xx or not at all if it cannot store an event, so that the event is sent again", async () => {
    const file = `${state}.lost`;
    const event = sample("ping");
    const unable = await startExample({ language, secret: SECRET, state: file });
    try {
      rmSync(file);
      mkdirSync(file);
      expect(await deliver(unable, { event }).catch(() => 500)).toBe(500);
      rmSync(file, { recursive: true });
      expect(await deliver(unable, { event })).toBe(204);
      expect(readFileSync(file, "utf8")).toBe(`${event.id} - 0\n`);
    } finally {
      await unable.kill();
    }
  });

  runs.for([
    ["no secret", ""],
    ["a secret of spaces", "  "],
  ] as const)("refuses to start with %s, and says how to get a secret", async ([, secret]) => {
    const { status, said } = await endExample({ language, secret, state, port: 4_242 });
    expect(status).toBe(1);
    expect(said).toMatch(/^WEBHOOK_SECRET is not set\. Register http:\/\/127\.0\.0\.1:4242\/webhooks and start again/);
    expect(said).toContain(`-d '{"url":"http://127.0.0.1:4242/webhooks","events":["*"]}'`);
  });

  runs("does not start when its port is taken, and says what to do", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    try {
      const address = other.address();
      const port = typeof address === "object" ? (address?.port ?? 0) : 0;
      const secret = webhookSecret(randomBytes(32));
      const { status, said } = await endExample({ language, secret, state, port });
      expect([status, said]).toEqual([1, expect.stringMatching(/^[^\n]+\. PORT names another port\.$/)]);
    } finally {
      other.close();
    }
  });

  runs.for(["whsec_", "whsec_!mistyped"])(
    "does not start with the invalid secret %s, and does not print it",
    async (secret) => {
      const { status, said } = await endExample({ language, secret, state, port: 4_242 });
      expect(status).toBe(1);
      expect(said).not.toMatch(/Listening|mistyped/);
    },
  );
});
