import { readFile } from "node:fs/promises";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, test, vi } from "vitest";
import { SIGNED } from "../../../scripts/event-examples.ts";
import { CATALOGUE, eventCatalogue } from "../../../scripts/write-event-catalogue.ts";
import { EVENT_TYPES } from "../../../src/platform/events/event.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe("the event catalogue", () => {
  test("is what `npm run docs:events` writes", async () => {
    expect(await readFile(CATALOGUE, "utf8")).toBe(await eventCatalogue());
  });

  test("lists every type once, and says when it is sent", async () => {
    const listed = [
      ...(await readFile(CATALOGUE, "utf8")).matchAll(/^\| `([a-z_]+(?:\.[a-z_]+)?)` \| [^|]+\.[^|]* \| `/gm),
    ];
    expect(listed.map(([, type]) => type).toSorted()).toEqual([...EVENT_TYPES].toSorted());
  });

  test("shows a request that a verifier accepts with the given secret", async () => {
    const text = await readFile(CATALOGUE, "utf8");
    const [, request = ""] = /```http\n([\s\S]*?)\n```/.exec(text) ?? [];
    const [head = "", body = ""] = request.split("\n\n");
    const headers = Object.fromEntries(head.split("\n").map((line) => line.split(/: (.*)/).slice(0, 2)));
    const [secret = ""] = /whsec_[A-Za-z0-9+/=]+/.exec(text) ?? [];
    vi.useFakeTimers({ now: SIGNED.timestampSeconds * 1_000 });
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({ id: SIGNED.eventId, type: "ping" });
  });
});
