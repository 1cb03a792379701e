// Requests that can be read in two ways: a proxy, a parser and a route must all read them in the same way, or they are refused.
import { describe, expect, it } from "vitest";
import { seedShop, send, sendWith } from "../../support/access.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { freshMerchant } from "../../support/worker-merchant.ts";

const PROTOTYPE_NAMES = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf"];

const ofMerchant = (merchantId: string) => `/api/v1/merchants/merchant/${merchantId}`;

describe("a path", () => {
  it("that tries to leave the key's merchant through dots or encoded slashes reaches no other merchant", async () => {
    const [shop, other] = [await seedShop(), await freshMerchant()];
    await expectStatus(other.post("/invoices", { name: "Of the other", rawAmount: 1, paymentMethods: [] }), 201);
    const [own, theirs] = [shop.merchantId, other.merchantId];
    for (const rest of [
      `${own}/../${theirs}/invoices`,
      `${own}/%2e%2e/${theirs}/invoices`,
      `${own}%2F..%2F${theirs}/invoices`,
      `${own}%2f%2e%2e%2f${theirs}/invoices`,
      `${own}%252F..%252F${theirs}/invoices`,
      `${own};/../${theirs}/invoices`,
      `${own}//${theirs}/invoices`,
      `${own}\\..\\${theirs}/invoices`,
      `${theirs}%00/invoices`,
      `${theirs}%20/invoices`,
      `${theirs}/invoices%2F`,
      `${theirs}/invoices?merchantId=${own}`,
      `${theirs}/invoices#/${own}`,
    ]) {
      const answer = await send(ofMerchant(rest), { key: shop.secretKey });
      expect([rest, [403, 404].includes(answer.status)]).toEqual([rest, true]);
      expect(answer.text).not.toContain("Of the other");
    }
  });

  it("is not changed by a header, nor is the method by a header or parameter", async () => {
    const shop = await freshMerchant();
    const { id } = await expectStatus(shop.post("/invoices", { name: "Order", rawAmount: 1, paymentMethods: [] }), 201);
    const path = `${ofMerchant(shop.merchantId)}/invoices/${id}`;
    for (const name of [
      "x-http-method-override",
      "x-method-override",
      "x-http-method",
      "x-original-url",
      "x-rewrite-url",
    ]) {
      const value = name.endsWith("url") ? `${path}/cancel` : "DELETE";
      const answer = await send(`${path}?_method=DELETE`, { key: shop.secret, headers: { [name]: value } });
      expect([name, answer.status, answer.json?.status]).toEqual([name, 200, "AWAITING_PAYMENT"]);
    }
  });
});

describe("a body", () => {
  it("is read as it was sent, however its content type is spelled, or the request is refused", async () => {
    const shop = await freshMerchant();
    const path = `${ofMerchant(shop.merchantId)}/settings`;
    const types: readonly (readonly [string, number])[] = [
      ["application/json", 200],
      ["Application/JSON", 200],
      ["application/json;", 200],
      ["application/json; charset", 200],
      ["application/json ; charset=utf-8; x", 200],
      ["application/json;charset=utf-16", 200],
      ["application/json, text/plain", 415],
      ["text/plain, application/json", 415],
      ["application/problem+json", 415],
      ["text/json", 415],
      ["multipart/form-data; boundary=x", 415],
      ["application/x-www-form-urlencoded", 415],
      ["", 415],
    ];
    for (const [n, [type, status]] of types.entries()) {
      const body = JSON.stringify({ invoiceLifetimeSeconds: 1_000 + n });
      const headers = { "content-type": type };
      const answer = await send(path, { method: "PATCH", key: shop.secret, headers, body });
      expect([type, answer.status]).toEqual([type, status]);
      if (status === 200) expect([type, answer.json?.invoiceLifetimeSeconds]).toEqual([type, 1_000 + n]);
    }
  });

  it("in a different encoding, or after a byte order mark, is read as UTF-8 or refused", async () => {
    const shop = await freshMerchant();
    const path = `${ofMerchant(shop.merchantId)}/settings`;
    const patch = (body: string) =>
      send(path, { method: "PATCH", key: shop.secret, headers: { "content-type": "application/json" }, body });
    expect((await patch('\ufeff{"invoiceLifetimeSeconds":2001}')).json?.invoiceLifetimeSeconds).toBe(2_001);
    for (const body of ['\ufeff\ufeff{"invoiceLifetimeSeconds":2002}', '{"invoiceLifetimeSeconds":2002}\ufeff', "\0{}"])
      expect((await patch(body)).status).toBe(400);
    // Every reader uses the last value of a repeated name, including the search for private keys.
    const twice = await patch('{"invoiceLifetimeSeconds":2003,"invoiceLifetimeSeconds":2004}');
    expect(twice.json?.invoiceLifetimeSeconds).toBe(2_004);
  });

  it("cannot change an object through the names of built-in members", async () => {
    const shop = await freshMerchant();
    const path = ofMerchant(shop.merchantId);
    const before = await expectStatus(shop.get("/settings"), 200);
    for (const name of PROTOTYPE_NAMES) {
      const body = `{"${name}":{"latePaymentPolicy":"ACCEPT","isAdmin":true}}`;
      const headers = { "content-type": "application/json" };
      const answer = await send(`${path}/settings`, { method: "PATCH", key: shop.secret, headers, body });
      expect([name, answer.status]).toEqual([name, 400]);
      expect(answer.json?.details).toContainEqual({ path: name, message: "unknown field" });
    }
    expect(await expectStatus(shop.get("/settings"), 200)).toEqual(before);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it("may have metadata under any name, and a different value makes it a different request", async () => {
    const shop = await freshMerchant();
    const path = `${ofMerchant(shop.merchantId)}/invoices`;
    const members = PROTOTYPE_NAMES.map((name) => `"${name}":"of ${name}"`);
    const create = (metadata: string, key: string) =>
      send(path, {
        method: "POST",
        key: shop.secret,
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: `{"name":"Order","rawAmount":1,"paymentMethods":[],"metadata":{${metadata}}}`,
      });
    const made = await create(members.join(), "one");
    expect(made.status).toBe(201);
    const read = await send(`${path}/${made.json?.id}`, { key: shop.secret });
    for (const { text } of [made, read]) for (const member of members) expect(text).toContain(member);
    expect((await create(members.join(), "one")).json?.id).toBe(made.json?.id);
    const other = await create(members.join().replace("of __proto__", "another"), "one");
    expect([other.status, other.json?.code]).toEqual([409, "IDEMPOTENCY_KEY_REUSED"]);
  });
});

describe("a query", () => {
  it("uses the first value of each repeated name, and names of built-in members have no effect", async () => {
    const shop = await freshMerchant();
    for (const name of ["a", "b"])
      await expectStatus(shop.post("/invoices", { name, rawAmount: 1, paymentMethods: [] }), 201);
    const limits = await expectStatus(shop.get("/invoices?limit=1&limit=100"), 200);
    expect(limits.data).toHaveLength(1);
    expect((await shop.get("/invoices?limit=0&limit=1")).status).toBe(400);
    const names = PROTOTYPE_NAMES.map((name) => `${name}=1&${name}[]=2`).join("&");
    expect((await expectStatus(shop.get(`/invoices?${names}&limit=1`), 200)).data).toHaveLength(1);
  });

  it("of hundreds of kilobytes is answered", async () => {
    const shop = await freshMerchant();
    const long = "%".repeat(200_000);
    for (const query of [`x=${long}`, `search=${long}`, `${"a&".repeat(50_000)}limit=1`])
      expect([200, 400]).toContain((await shop.get(`/invoices?${query}`)).status);
  });
});

describe("a host", () => {
  it("that is not the deployment's own, or ends in a dot, appears in no response", async () => {
    const { merchantId, secretKey } = await seedShop();
    const own: Partial<Env> = { ENVIRONMENT: "production", PUBLIC_URL: "https://pay.example" };
    for (const host of ["pay.example.", "evil.example", "pay.example.evil.example", "pay.example:8443"]) {
      const answer = await sendWith(own, `https://${host}${ofMerchant(merchantId)}/invoices`, {
        method: "POST",
        key: secretKey,
        headers: { "x-forwarded-host": "evil.example", "x-forwarded-proto": "http", forwarded: "host=evil.example" },
        body: { name: "Order", rawAmount: 1, paymentMethods: [] },
      });
      expect(answer.status).toBe(201);
      expect(answer.text).toContain(`"https://pay.example/pay/${answer.json?.id}"`);
      expect(answer.text).not.toMatch(/evil|pay\.example\.[^"/]|:8443/);
    }
  });
});

it("a HEAD request passes through the same checks as the GET, and its response has no body", async () => {
  const shop = await freshMerchant();
  const path = `${ofMerchant(shop.merchantId)}/reports/payments.csv`;
  expect((await send(path, { method: "HEAD" })).status).toBe(401);
  const answer = await send(path, { method: "HEAD", key: shop.secret });
  expect([answer.status, answer.text]).toEqual([200, ""]);
});
