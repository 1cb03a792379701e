// Deliveries are compared with the bare loops, so the loops must send what the product sends.
import { describe, expect, test } from "vitest";
import {
  CREATED_AT_MS,
  DATA,
  eventIdAt,
  SEQUENCE,
  type Signer,
  signedPost,
  TYPE,
} from "../../../bench/deliveries/bare-post.ts";
import { arrivalRate } from "../../../bench/deliveries/lab.ts";
import { nodeSigner } from "../../../bench/deliveries/node-signer.ts";
import { webSigner } from "../../../bench/deliveries/web-signer.ts";
import { makeId } from "../../../src/lib/ids.ts";
import { webhookSecret } from "../../../src/notifications/webhooks/secret.ts";
import { signedHeaders } from "../../../src/notifications/webhooks/signature.ts";
import { deliveryIdOf } from "../../../src/notifications/webhooks/webhook.ts";
import { eventText } from "../../../src/platform/events/event.ts";

const ULID = "01M7Z0EG3N728DV3VWEHRYP31X";
const merchantId = makeId("mer", ULID);
const webhookId = makeId("whk", ULID);
const secret = webhookSecret(new Uint8Array(32).fill(7));

describe("the bare loop of signed POSTs", () => {
  test.each<[string, () => Signer | Promise<Signer>]>([
    ["Node", () => nodeSigner(secret)],
    ["workerd", () => webSigner(secret)],
  ])("in %s sends the same headers and body as the product", async (_where, signer) => {
    const eventId = eventIdAt(4_711);
    const { headers, body } = await signedPost({ merchantId, webhookId }, 4_711, await signer());
    const timestampSeconds = Number(headers["webhook-timestamp"]);
    const deliveryId = deliveryIdOf(eventId, webhookId);
    const signed = await signedHeaders({ eventId, deliveryId, webhookId, body, timestampSeconds, secrets: [secret] });
    expect(headers).toEqual(signed);
    const event = { id: eventId, type: TYPE, merchantId, sequence: SEQUENCE, data: DATA, createdAtMs: CREATED_AT_MS };
    expect(body).toBe(eventText(event));
  });

  test("sends a body of the size of an invoice.paid event", () => {
    expect(DATA.length).toBeGreaterThan(2_500);
    expect(DATA.length).toBeLessThan(3_500);
  });
});

describe("the delivery rate", () => {
  const endpoints = [{ id: webhookId, secret, url: "http://127.0.0.1/" }];
  const seen = async (eventIds: readonly string[], signer: Signer = nodeSigner(secret)) => ({
    arrivals: eventIds.map((eventId, i) => ({ eventId, atMs: 1_000 + i * 10 })),
    sample: await signedPost({ merchantId, webhookId }, 1, signer),
  });

  test("is measured between the first POST and the last", async () => {
    expect(arrivalRate(await seen(["evt_1", "evt_2", "evt_3"]), { endpoints })).toBe(100);
  });

  test("is refused when one event arrived twice and another not at all", async () => {
    const twice = await seen(["evt_1", "evt_1", "evt_3"]);
    expect(() => arrivalRate(twice, { endpoints })).toThrow("3 POSTs of 2 events");
  });

  test("is refused when a POST is not signed with the endpoint's secret", async () => {
    const foreign = await seen(["evt_1", "evt_2"], nodeSigner(webhookSecret(new Uint8Array(32).fill(8))));
    expect(() => arrivalRate(foreign, { endpoints })).toThrow("signature");
  });
});
