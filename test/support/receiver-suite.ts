// Tests what the client that POSTs to receivers guarantees, with a real receiver on loopback. `fetch` in Node and in workerd differ in redirects,
// aborts and cancelled bodies, so each runs the whole suite.
import { describe, expect, it, vi } from "vitest";
import { postToReceiver, type ReceiverAnswer } from "../../src/notifications/webhooks/receiver-client.ts";
import { webhookSecret } from "../../src/notifications/webhooks/secret.ts";
import { signedHeaders } from "../../src/notifications/webhooks/signature.ts";
import { receiverAt } from "./receiver-control.ts";

const LIMIT_MS = 400;
/** Long after the limit and before the slow behaviour would answer. It is long enough for a busy machine. */
const LATE_MS = 20_000;
const PATIENT_MS = 60_000;

const headers = { "content-type": "application/json", "user-agent": "Edgetill-Webhooks/1", "webhook-id": "evt_1" };
const body = '{"name":"Päckchen 🏦"}';

const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const utf8 = (text: string) => new TextEncoder().encode(text);
const chunked = "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n";
/** A whole response. It must announce that the connection closes; otherwise a POST that is sent on the connection meanwhile would be lost. */
const http = (text: string) => `raw/${hex(utf8(text.replaceAll("\n", "\r\n")))}`;

type Posting = ReturnType<typeof postingTo>;

/** The client, sending to the test's receiver, which keeps a log per key. */
function postingTo(origin: () => string) {
  const postTo = (url: string, timeoutMs: number): Promise<ReceiverAnswer> =>
    postToReceiver(
      { fetch: (to, init) => fetch(to, init), nowMs: () => Date.now() },
      { url, headers, body, timeoutMs },
    );
  const post = (
    behaviour: string,
    timeoutMs = PATIENT_MS,
    key: string = crypto.randomUUID(),
  ): Promise<ReceiverAnswer> => postTo(receiverAt(origin()).url(behaviour, key), timeoutMs);
  const log = (key: string) => receiverAt(origin()).log(key);
  const cut = (key: string) => vi.waitFor(async () => expect(await log(key)).toMatchObject([{ end: "CUT" }]), LATE_MS);
  return { origin, post, postTo, log, cut };
}

export function describeReceiverClient(origin: () => string): void {
  const posting = postingTo(origin);
  describeRequests(posting);
  describeStatuses(posting);
  describeLimit(posting);
  describeFailedConnections(posting);
  describeStrangeAnswers(posting);
  describeBodies(posting);
}

function describeRequests({ origin, post, log }: Posting): void {
  it("sends the body and headers unchanged, without cookies or credentials", async () => {
    const key = crypto.randomUUID();
    const cookie = http("HTTP/1.1 200 OK\nset-cookie: a=b\ncontent-length: 0\nconnection: close\n\n");
    for (const behaviour of [cookie, "ok"])
      expect(await post(behaviour, PATIENT_MS, key)).toMatchObject({ statusCode: 200 });
    const receptions = await log(key);
    expect(receptions).toMatchObject([
      { method: "POST", body, headers },
      { method: "POST", body, headers },
    ]);
    for (const { headers } of receptions) {
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining([expect.stringMatching(/cookie|authorization/)]));
    }
  });

  it("is signed so that standardwebhooks verifies it with each valid secret, and with no other", async () => {
    const key = crypto.randomUUID();
    const control = receiverAt(origin());
    const [newest, older, another] = [1, 2, 3].map((byte) => webhookSecret(new Uint8Array(32).fill(byte)));
    const secrets = [newest ?? "", older ?? ""];
    await control.trust(key, ...secrets, another ?? "");
    const ids = { eventId: "evt_1", deliveryId: "dlv_1", webhookId: "whk_1" };
    const timestampSeconds = Math.floor(Date.now() / 1_000);
    const signed = await signedHeaders({ ...ids, body, timestampSeconds, secrets });
    const send = (body: string) =>
      postToReceiver(
        { fetch: (to, init) => fetch(to, init), nowMs: () => Date.now() },
        { url: control.url("ok", key), headers: signed, body, timeoutMs: PATIENT_MS },
      );
    await send(body);
    await send(`${body} `);
    expect(await log(key)).toMatchObject([{ headers: signed, signedBy: secrets }, { signedBy: [] }]);
  });

  it("returns every failure of a receiver that is set to fail a number of times", async () => {
    const key = crypto.randomUUID();
    const control = receiverAt(origin());
    const statuses = async (behaviour: string, key: string) => {
      const answers = [];
      for (let i = 0; i < 4; i++) answers.push((await post(behaviour, PATIENT_MS, key)).statusCode);
      return answers;
    };
    expect(await statuses("fail-first/2", crypto.randomUUID())).toEqual([500, 500, 200, 200]);
    expect(await statuses("fail-each/3", crypto.randomUUID())).toEqual([500, 500, 500, 200]);
    expect(await post("told", PATIENT_MS, key)).toMatchObject({ statusCode: 200 });
    await control.tell(key, "status/503?retry-after=9");
    expect(await post("told", PATIENT_MS, key)).toMatchObject({ statusCode: 503, retryAfter: "9" });
  });
}

function describeStatuses({ post, log }: Posting): void {
  it.each([200, 201, 202, 204, 226, 400, 401, 404, 409, 410, 418, 429, 500, 502, 503, 599])(
    "returns a %i unchanged",
    async (status) => {
      const answer = await post(`status/${status}?retry-after=7`);
      const response = status === 204 ? "" : `answered ${status}`;
      expect(answer).toEqual({
        statusCode: status,
        error: null,
        latencyMs: expect.any(Number),
        response,
        retryAfter: "7",
      });
      expect(await post(`status/${status}`)).toMatchObject({ retryAfter: null });
    },
  );

  it.each([300, 301, 302, 303, 307, 308])(
    "returns a redirect with %i unchanged and does not follow it",
    async (status) => {
      const key = crypto.randomUUID();
      expect(await post(`redirect/${status}`, PATIENT_MS, key)).toMatchObject({ statusCode: status, error: null });
      expect(await log(key)).toMatchObject([{ path: `/redirect/${status}?key=${key}`, end: "ANSWERED" }]);
    },
  );
}

function describeLimit({ post, cut }: Posting): void {
  describe("with one time limit for headers and body,", () => {
    const timed = async (behaviour: string, limitMs: number) => {
      const key = crypto.randomUUID();
      const startMs = Date.now();
      const answer = await post(behaviour, limitMs, key);
      expect(Date.now() - startMs).toBeGreaterThanOrEqual(limitMs - 50);
      expect(Date.now() - startMs).toBeLessThan(limitMs + LATE_MS);
      await cut(key);
      return answer;
    };
    /** On a busy machine even immediate headers may miss a short limit. A longer limit is then tried. */
    const timedAfterHeaders = async (
      behaviour: string,
      limitMs = LIMIT_MS,
    ): Promise<{ readonly answer: ReceiverAnswer; readonly limitMs: number }> => {
      const answer = await timed(behaviour, limitMs);
      return answer.statusCode === null && limitMs < LATE_MS
        ? timedAfterHeaders(behaviour, 4 * limitMs)
        : { answer, limitMs };
    };

    it.each(["hang", "slow/30000"])("late headers count as no response: %s", async (behaviour) => {
      const answer = await timed(behaviour, LIMIT_MS);
      expect(answer).toMatchObject({ statusCode: null, error: "TIMEOUT", response: null, retryAfter: null });
      expect(answer.latencyMs).toBeGreaterThanOrEqual(LIMIT_MS - 50);
    });

    it.each([200, 500])("a hanging body does not invalidate a %i, and the part received is kept", async (status) => {
      const { answer, limitMs } = await timedAfterHeaders(`hang-body/${status}`);
      expect(answer).toMatchObject({ statusCode: status, error: null, response: "half of " });
      expect(answer.latencyMs).toBeLessThan(limitMs);
    });

    it("a slow body is cut off at the time limit", async () => {
      const { answer } = await timedAfterHeaders("drip/20");
      expect(answer).toMatchObject({ statusCode: 200, error: null, response: expect.stringMatching(/^\.+$/) });
    });

    it("a slow response within the limit counts", async () => {
      const answer = await post("slow/200", PATIENT_MS);
      expect(answer).toMatchObject({ statusCode: 200, response: "answered 200" });
      expect(answer.latencyMs).toBeGreaterThanOrEqual(190);
      expect(answer.latencyMs).toBeLessThan(PATIENT_MS);
    });
  });
}

function describeFailedConnections({ post, postTo }: Posting): void {
  it.each([
    ["closes the connection without a response", "close"],
    ["speaks another protocol", http("SSH-2.0-OpenSSH_9.6\n")],
    ["sends nothing at all", "raw/"],
    ["closes within the headers", http("HTTP/1.1 200 OK\ncontent-le")],
  ])("a receiver that %s counts as a failed connection", async (_, behaviour) => {
    const answer = await post(behaviour);
    expect(answer).toMatchObject({ statusCode: null, error: "CONNECTION_FAILED", response: null, retryAfter: null });
  });

  it("a port without a server counts as a failed connection", async () => {
    const answer = await postTo("http://127.0.0.1:4/", PATIENT_MS);
    expect(answer).toMatchObject({ statusCode: null, error: "CONNECTION_FAILED" });
  });

  it.each([200, 503])("a body that breaks off half-way does not invalidate a %i", async (status) => {
    const answer = await post(`half/${status}`);
    expect(answer).toMatchObject({ statusCode: status, error: null });
    expect("h".repeat(500)).toContain(answer.response);
  });

  it("a body falsely labelled as gzip does not invalidate a 200", async () => {
    const behaviour = http("HTTP/1.1 200 OK\ncontent-encoding: gzip\ncontent-length: 4\nconnection: close\n\nabcd");
    expect(await post(behaviour)).toMatchObject({ statusCode: 200, error: null });
  });
}

/** Responses that some runtimes accept and others reject. */
const STRANGE: readonly (readonly [string, string])[] = [
  ["headers of 256 KB", "huge-headers/262144"],
  [
    "an early hint",
    http("HTTP/1.1 103 Early Hints\nlink: </a>\n\nHTTP/1.1 200 OK\ncontent-length: 2\nconnection: close\n\nok"),
  ],
  [
    "a switch to another protocol",
    http("HTTP/1.1 101 Switching Protocols\nupgrade: websocket\nconnection: upgrade\n\n"),
  ],
  ["status 999", http("HTTP/1.1 999 Beyond\ncontent-length: 0\nconnection: close\n\n")],
  ["status 000", http("HTTP/1.1 000 Nothing\ncontent-length: 0\nconnection: close\n\n")],
  // The result depends on whether the headers arrive separately, and so on the network.
  ["a later chunk without a length", http(`${chunked}5\nhello\nnothing hexadecimal\n`)],
  ["a first chunk without a length", http(`${chunked}nothing hexadecimal\n`)],
  ["two lengths", http("HTTP/1.1 200 OK\ncontent-length: 1\ncontent-length: 2\n\nab")],
  [
    "a redirect with an invalid address",
    http("HTTP/1.1 302 Found\nlocation: http://[::\ncontent-length: 0\nconnection: close\n\n"),
  ],
  ["an unknown encoding", http("HTTP/1.1 200 OK\ncontent-encoding: br, x\ncontent-length: 2\nconnection: close\n\nab")],
];

function describeStrangeAnswers({ post }: Posting): void {
  it.each(STRANGE)(
    "%s results in a status or a failure, depending on the runtime, and never in an exception",
    async (_, behaviour) => {
      const answer = await post(behaviour, LIMIT_MS);
      expect(answer.statusCode === null).toBe(answer.error !== null);
      expect(answer.response === null).toBe(answer.error !== null);
    },
  );
}

/** What response bodies contain, and how much of their text is stored. */
const TEXTS: readonly (readonly [string, Uint8Array, string])[] = [
  ["of characters", utf8("päh 🏦"), "päh 🏦"],
  ["that is empty", new Uint8Array(), ""],
  ["of 4,096 bytes: all of it", utf8("x".repeat(4_096)), "x".repeat(4_096)],
  ["of 4,097 bytes: without the last byte", utf8(`${"x".repeat(4_096)}y`), "x".repeat(4_096)],
  ["without a character that the limit cuts in two", utf8(`${"x".repeat(4_094)}€€`), "x".repeat(4_094)],
  ["with a character that ends exactly at the limit", utf8(`${"x".repeat(4_093)}€€`), `${"x".repeat(4_093)}€`],
  ["cut at the limit before NULs are removed", utf8(`\0\0${"x".repeat(4_092)}€€`), "x".repeat(4_092)],
  ["without its NULs", utf8("a\0b\0"), "ab"],
  ["with invalid UTF-8 replaced", Uint8Array.of(0x61, 0xff, 0x62, 0xc3), "a\ufffdb\ufffd"],
  ["full of replacement characters, no longer than 4 KB", new Uint8Array(4_000).fill(0xff), "\ufffd".repeat(1_365)],
];

function describeBodies({ post, cut }: Posting): void {
  it("keeps the first 4 KB of 10 MB", async () => {
    expect(await post("big/10485760")).toMatchObject({ statusCode: 200, error: null, response: "x".repeat(4_096) });
  });

  it("cuts off an endless body long before the time limit", async () => {
    const key = crypto.randomUUID();
    const startMs = Date.now();
    expect(await post("endless", PATIENT_MS, key)).toMatchObject({ statusCode: 200, response: "x".repeat(4_096) });
    expect(Date.now() - startMs).toBeLessThan(LATE_MS);
    await cut(key);
  });

  it.each(TEXTS)("stores response text %s", async (_, bytes, text) => {
    expect(await post(`bytes/${hex(bytes)}`)).toMatchObject({ statusCode: 200, response: text });
  });
}
