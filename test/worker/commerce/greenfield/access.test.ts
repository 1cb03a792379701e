// Who may call each of BTCPay Server's routes: every kind of key and caller on each route, compared with a handwritten table.
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { keyPermissionName, SECRET_KEY_PERMISSIONS } from "../../../../src/accounts/roles/permissions.ts";
import { createApp, GREENFIELD_SPECS, SPECS } from "../../../../src/app/app.ts";
import type { MerchantId } from "../../../../src/lib/ids.ts";
import { HOUR_MS } from "../../../../src/lib/time.ts";
import { merchants } from "../../../../src/platform/db/schema/merchants.ts";
import type { RouteSpec } from "../../../../src/platform/http/route.ts";
import { type Answer, type Ask, seedKey, seedMerchant, send } from "../../../support/access.ts";
import { nameOf, pathOf, UNKNOWN_ULID, WRONG_BODIES } from "../../../support/access-attempt.ts";
import { storedRows } from "../../../support/production.ts";
import { testDb } from "../../../support/worker-merchant.ts";

const STORE = "/api/v1/stores/:merchantId";

/** All permissions that a call needs, as they are spelled on a key. If empty, any secret key is enough. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  "GET /api/v1/api-keys/current": [],
  "GET /api/v1/server/info": [],
  "GET /api/v1/stores": [],
  [`GET ${STORE}`]: ["MERCHANT_VIEW"],
  [`GET ${STORE}/payment-methods`]: ["WALLET_VIEW"],
  [`GET ${STORE}/rates`]: ["MERCHANT_VIEW"],
  [`POST ${STORE}/invoices`]: ["INVOICE_CREATE"],
  [`GET ${STORE}/invoices`]: ["INVOICE_VIEW"],
  [`GET ${STORE}/invoices/:invoiceId`]: ["INVOICE_VIEW"],
  [`PUT ${STORE}/invoices/:invoiceId`]: ["INVOICE_VIEW", "INVOICE_UPDATE"],
  [`DELETE ${STORE}/invoices/:invoiceId`]: ["INVOICE_VIEW", "INVOICE_UPDATE"],
  [`GET ${STORE}/invoices/:invoiceId/payment-methods`]: ["INVOICE_VIEW"],
  // The permission to mark an invoice as Settled. Marking one as Invalid needs INVOICE_CANCEL.
  [`POST ${STORE}/invoices/:invoiceId/status`]: ["PAYMENT_RESOLVE"],
  [`GET ${STORE}/webhooks`]: ["WEBHOOK_VIEW"],
  [`POST ${STORE}/webhooks`]: ["WEBHOOK_CREATE"],
  [`GET ${STORE}/webhooks/:webhookId`]: ["WEBHOOK_VIEW"],
  [`PUT ${STORE}/webhooks/:webhookId`]: ["WEBHOOK_VIEW", "WEBHOOK_UPDATE"],
  [`DELETE ${STORE}/webhooks/:webhookId`]: ["WEBHOOK_VIEW", "WEBHOOK_DELETE"],
  "GET /api/v1/invoices/:invoiceId": ["INVOICE_VIEW"],
  "PUT /api/v1/invoices/:invoiceId": ["INVOICE_VIEW", "INVOICE_UPDATE"],
  "DELETE /api/v1/invoices/:invoiceId": ["INVOICE_VIEW", "INVOICE_UPDATE"],
  "GET /api/v1/invoices/:invoiceId/payment-methods": ["INVOICE_VIEW"],
  "POST /api/v1/invoices/:invoiceId/status": ["PAYMENT_RESOLVE"],
  "GET /api/v1/webhooks/:webhookId": ["WEBHOOK_VIEW"],
  "PUT /api/v1/webhooks/:webhookId": ["WEBHOOK_VIEW", "WEBHOOK_UPDATE"],
  "DELETE /api/v1/webhooks/:webhookId": ["WEBHOOK_VIEW", "WEBHOOK_DELETE"],
};

/** Routes of BTCPay Server that this service does not have: any caller gets a 404 with a message. */
const NOWHERE = [
  `POST ${STORE}/pull-payments`,
  `POST ${STORE}/invoices/:invoiceId/refund`,
  "POST /api/v1/invoices/:invoiceId/refund",
];

const ALL = SECRET_KEY_PERMISSIONS.map(keyPermissionName);

let merchantId: MerchantId;
let foreign: string;
let whole: string;
const invalid: (string | undefined)[] = [undefined, "", "letmein"];

beforeAll(async () => {
  const [own, other] = [await seedMerchant(), await seedMerchant()];
  merchantId = own;
  foreign = await seedKey(other);
  whole = await seedKey(own);
  invalid.push(
    `${whole}0`,
    await seedKey(own, { expiresAtMs: Date.now() - 1 }),
    await seedKey(own, { revokedAtMs: Date.now() - HOUR_MS }),
    await seedKey(own, { kind: "PUBLIC" }),
  );
});

const token = (key: string | undefined) => (key === undefined ? {} : { authorization: `token ${key}` });

function attempt(
  spec: RouteSpec,
  key: string | undefined,
  ask: Ask = {},
  store: string = merchantId,
): Promise<Answer[]> {
  const bodies = spec.method === "GET" ? [{}] : WRONG_BODIES;
  return Promise.all(
    bodies.map(({ body, headers }) =>
      send(pathOf(spec, { merchantId: store }), {
        method: spec.method,
        ...(body === undefined ? {} : { body }),
        headers: { ...headers, ...token(key), ...ask.headers },
      }),
    ),
  );
}

function expectRefused(answers: readonly Answer[], status: number, code: string): void {
  for (const answer of answers) {
    expect([answer.status, answer.json?.code], answer.text).toEqual([status, code]);
    expect(Object.keys(answer.json ?? {}).filter((name) => name !== "missingPermission")).toEqual(["code", "message"]);
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  }
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
}

describe("the routes of BTCPay Server", () => {
  it("are those in the table, and are mounted alongside our own routes without sharing a path", () => {
    expect(GREENFIELD_SPECS.map(nameOf).sort()).toEqual([...Object.keys(NEEDED), ...NOWHERE].sort());
    const paths = SPECS.map(({ path }) => path);
    for (const { path } of GREENFIELD_SPECS) expect(paths).not.toContain(path);
    const mounted = createApp().routes.map(({ method, path }) => `${method} ${path}`);
    for (const spec of GREENFIELD_SPECS) expect(mounted).toContain(nameOf(spec));
  });
});

const guarded = GREENFIELD_SPECS.filter((spec) => nameOf(spec) in NEEDED).map((spec) => [nameOf(spec), spec] as const);

describe.each(guarded)("%s", (name, spec) => {
  const needed = NEEDED[name] ?? [];

  it("answers every invalid key, a public key and a key in our own header with the same 401", async () => {
    const answers = await Promise.all(invalid.map((key) => attempt(spec, key)));
    const elsewhere = await Promise.all([
      attempt(spec, undefined, { headers: { "x-api-key": whole } }),
      attempt(spec, undefined, { headers: { authorization: `Bearer ${whole}` } }),
      attempt(spec, undefined, { headers: { authorization: `Basic ${btoa(`user:${whole}`)}` } }),
      attempt(spec, undefined, { headers: { cookie: "__Host-session=anything; session=anything" } }),
    ]);
    expectRefused([...answers, ...elsewhere].flat(), 401, "unauthenticated");
  });

  it("refuses a key that lacks one of the route's permissions, whatever is wrong with the body, and writes nothing", async () => {
    const before = await storedRows();
    for (const missing of needed) {
      const key = await seedKey(merchantId, { permissions: ALL.filter((each) => each !== missing) });
      const answers = await attempt(spec, key);
      // If a later permission is missing, the answer may also be 404, because the object that is read before the check does not exist.
      if (needed[0] === missing) expectRefused(answers, 403, "missing-permission");
      else expect(answers.filter(({ status }) => status === 200)).toEqual([]);
    }
    const after = await storedRows();
    expect({ ...after, api_keys: null }).toEqual({ ...before, api_keys: null });
  });

  it("accepts a key that has only the route's permissions", async () => {
    const key = await seedKey(merchantId, { permissions: needed });
    for (const { status, text } of await attempt(spec, key))
      expect([200, 404, 422, 400, 413, 415], text).toContain(status);
  });

  if (spec.path.startsWith(STORE)) {
    it("refuses another store's key, whether the store in the path exists or not", async () => {
      const existing = await attempt(spec, foreign);
      expectRefused(existing, 403, "missing-permission");
      for (const store of [`mer_${UNKNOWN_ULID}`, "x", "%00"])
        expectRefused([...existing, ...(await attempt(spec, foreign, {}, store))], 403, "missing-permission");
    });
  }

  it("accepts a key with an allow-list only from its addresses", async () => {
    const key = await seedKey(merchantId, { allowedIps: JSON.stringify(["203.0.113.7/32"]) });
    expectRefused(
      await attempt(spec, key, { headers: { "cf-connecting-ip": "198.51.100.23" } }),
      403,
      "ip-not-allowed",
    );
    const inside = await attempt(spec, key, { headers: { "cf-connecting-ip": "203.0.113.7" } });
    expect(inside.filter(({ status }) => status === 401 || status === 403)).toEqual([]);
  });
});

/** Creates a store; returns its key and the ids of its objects. */
async function freshStore() {
  const store = await seedMerchant();
  const headers = token(await seedKey(store));
  const path = `/api/v1/stores/${store}`;
  const make = async (what: string, body: object) => {
    const made = await send(`${path}/${what}`, { method: "POST", headers, body });
    expect(made.status, made.text).toBe(200);
    return String(made.json?.id);
  };
  const invoiceId = await make("invoices", { amount: "10", currency: "USD", metadata: { orderId: "1" } });
  const webhookId = await make("webhooks", { url: "https://hooks.example.com/shop" });
  return { headers, ids: { merchantId: store, invoiceId, webhookId } };
}

describe.each(guarded.filter(([, { path }]) => /:(invoice|webhook)Id/.test(path)))("%s", (_, spec) => {
  const place = spec.path.includes(":invoiceId") ? "invoiceId" : "webhookId";
  const body = { metadata: { orderId: "2" }, status: "Invalid", url: "https://hooks.example.com/other" };
  const call = ({ headers, ids }: Awaited<ReturnType<typeof freshStore>>, id: string) =>
    send(pathOf(spec, { ...ids, [place]: id }), {
      method: spec.method,
      headers,
      ...(spec.method === "GET" || spec.method === "DELETE" ? {} : { body }),
    });

  it("answers another store's id, and an id of the wrong kind, like an unknown one, and works with its own", async () => {
    const [mine, theirs] = [await freshStore(), await freshStore()];
    const before = await storedRows();
    const unknown = await call(mine, `${place === "invoiceId" ? "inv" : "whk"}_${UNKNOWN_ULID}`);
    expect(unknown.status, unknown.text).toBe(404);
    for (const id of [...Object.values(theirs.ids), mine.ids.merchantId, "x", "%00"]) {
      const { status, text } = await call(mine, id);
      expect([id, status, text]).toEqual([id, unknown.status, unknown.text]);
    }
    expect(await storedRows()).toEqual(before);
    const own = await call(mine, mine.ids[place]);
    expect(own.status, own.text).toBe(200);
  });
});

describe("a store that moved from BTCPay Server", () => {
  const FORMER = "9qZxk3Coffee1";
  const nested = guarded.filter(([, { path }]) => path.startsWith(STORE));

  it.each(nested)(
    "is found by %s under its former id, once that is set, but only with its own key",
    async (_, spec) => {
      const [mine, theirs] = [await freshStore(), await freshStore()];
      const body = {
        metadata: { orderId: "2" },
        status: "Invalid",
        url: "https://hooks.example.com/other",
        amount: "1",
        currency: "USD",
      };
      const call = ({ headers }: typeof mine, store: string) =>
        send(pathOf(spec, { ...mine.ids, merchantId: store }), {
          method: spec.method,
          headers,
          ...(spec.method === "GET" || spec.method === "DELETE" ? {} : { body }),
        });
      expectRefused([await call(mine, FORMER)], 403, "missing-permission");
      for (const { ids } of [mine, theirs])
        await testDb
          .update(merchants)
          .set({ formerStoreId: `${FORMER}x` })
          .where(eq(merchants.id, ids.merchantId));
      expectRefused([await call(mine, FORMER), await call(theirs, mine.ids.merchantId)], 403, "missing-permission");
      await testDb.update(merchants).set({ formerStoreId: FORMER }).where(eq(merchants.id, mine.ids.merchantId));
      expectRefused([await call(theirs, FORMER)], 403, "missing-permission");
      const own = await call(mine, FORMER);
      expect(own.status, own.text).toBe(200);
    },
  );
});

describe.each(NOWHERE)("%s", (name) => {
  it("is 404 with a message", async () => {
    const spec = GREENFIELD_SPECS.find((each) => nameOf(each) === name);
    if (spec === undefined) throw new Error(name);
    for (const key of [undefined, whole]) expectRefused(await attempt(spec, key), 404, "not-supported");
  });
});

describe("a key that may only create invoices", () => {
  it("cannot mark an invoice as settled or cancel it", async () => {
    const key = await seedKey(merchantId, { permissions: ["INVOICE_CREATE"] });
    const made = await send(`/api/v1/stores/${merchantId}/invoices`, {
      method: "POST",
      headers: token(key),
      body: { amount: "10", currency: "USD", metadata: { orderId: "1" } },
    });
    expect(made.status, made.text).toBe(200);
    for (const status of ["Settled", "Invalid"]) {
      const marked = await send(`/api/v1/stores/${merchantId}/invoices/${made.json?.id}/status`, {
        method: "POST",
        headers: token(key),
        body: { status },
      });
      expect([marked.status, marked.json?.code]).toEqual([403, "missing-permission"]);
    }
  });
});
