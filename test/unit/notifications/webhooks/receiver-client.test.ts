import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { postToReceiver } from "../../../../src/notifications/webhooks/receiver-client.ts";
import type { Listening } from "../../../support/listen.ts";
import { RUNS } from "../../../support/property-runs.ts";
import { startReceiver } from "../../../support/receiver.ts";
import { describeReceiverClient } from "../../../support/receiver-suite.ts";

let receiver: Listening;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

describe("a POST to a receiver, from Node", () => {
  describeReceiverClient(() => receiver.origin);

  it("reports a failed connection if the port is closed", async () => {
    const gone = await startReceiver();
    await gone.close();
    const request = { url: `${gone.origin}/ok`, headers: {}, body: "{}", timeoutMs: 5_000 };
    expect(await postToReceiver({ fetch, nowMs: Date.now }, request)).toMatchObject({ error: "CONNECTION_FAILED" });
  });
});

const request = { url: "https://shop.test/", headers: {}, body: "{}", timeoutMs: 5_000 };

describe("posting to a receiver", () => {
  it.each([undefined, null, "words", new Error("canary-words"), new DOMException("canary-words", "AbortError")])(
    "reports a failed connection, without the error's message, when fetch throws %s",
    async (thrown) => {
      const answer = await postToReceiver({ fetch: () => Promise.reject(thrown), nowMs: () => 5 }, request);
      const nothing = { statusCode: null, response: null, retryAfter: null };
      expect(answer).toEqual({ ...nothing, error: "CONNECTION_FAILED", latencyMs: 0 });
    },
  );

  it("measures the time until the status arrives, by the given clock", async () => {
    let nowMs = 1_000;
    const body = new ReadableStream(
      {
        pull: (controller) => {
          nowMs += 5_000;
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const fetch = async () => {
      nowMs += 70;
      return new Response(body);
    };
    expect(await postToReceiver({ fetch, nowMs: () => nowMs }, request)).toMatchObject({ latencyMs: 70 });
    expect(nowMs).toBe(6_070);
  });

  it("leaves no timer behind", async () => {
    vi.useFakeTimers();
    try {
      for (const fetch of [async () => new Response("ok"), () => Promise.reject(new Error("gone"))]) {
        await postToReceiver({ fetch, nowMs: () => 0 }, request);
        expect(vi.getTimerCount()).toBe(0);
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it("does not wait until the body of the response is cancelled", async () => {
    let chunks = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        if (chunks++ < 100) controller.enqueue(new Uint8Array(50_000).fill(0x78));
        else controller.close();
      },
      cancel: () => new Promise(() => {}),
    });
    const answer = await postToReceiver({ fetch: async () => new Response(body), nowMs: () => 0 }, request);
    expect(answer).toMatchObject({ statusCode: 200, response: "x".repeat(4_096) });
    expect(chunks).toBeLessThan(5);
  });

  const chunks = fc.array(
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.string({ unit: "binary", maxLength: 20 }).map((text) => new TextEncoder().encode(text)),
      fc
        .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 3_000, max: 70_000 }))
        .map(([byte, length]) => new Uint8Array(length).fill(byte)),
    ),
    { maxLength: 8 },
  );
  const ends = fc.constantFrom("closes", "breaks off", "refuses to be cancelled");

  it("reads only slightly more than 64 KB of the response, and keeps at most its first 4 KB, without NULs", async () => {
    await fc.assert(
      fc.asyncProperty(chunks, ends, async (chunks, end) => {
        let given = 0;
        const left = [...chunks];
        const body = new ReadableStream(
          {
            pull: (controller) => {
              const chunk = left.shift();
              given += chunk?.length ?? 0;
              if (chunk !== undefined) return controller.enqueue(chunk);
              return end === "closes" ? controller.close() : controller.error(new Error("broken off"));
            },
            cancel: () => (end === "refuses to be cancelled" ? Promise.reject(new Error("no")) : undefined),
          },
          { highWaterMark: 0 },
        );
        const { statusCode, error, response } = await postToReceiver(
          { fetch: async () => new Response(body, { status: 201 }), nowMs: () => 0 },
          request,
        );
        expect({ statusCode, error }).toEqual({ statusCode: 201, error: null });
        const all = new TextDecoder().decode(Buffer.concat(chunks)).replaceAll("\0", "");
        expect(all.startsWith(response ?? "nothing")).toBe(true);
        const kept = Buffer.byteLength(response ?? "");
        expect(kept).toBeLessThanOrEqual(4_096);
        if (Buffer.concat(chunks).length <= 4_096 && end === "closes" && Buffer.byteLength(all) <= 4_096)
          expect(response).toBe(all);
        expect(given).toBeLessThan(65_536 + 70_001);
      }),
      { numRuns: RUNS / 5 },
    );
  });
});
