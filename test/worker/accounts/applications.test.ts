// An application asks a user for a key, as BTCPay Server's shop plugins do: the page names the one origin that may receive the key, and each request
// is granted once, with exactly the rights it asked for (security.md 1 "Keys for applications").
import { env, exports } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { newApiKeyBody } from "../../../src/accounts/api-keys/contract.ts";
import { newQuestionToken } from "../../../src/accounts/applications/question-token.ts";
import { keyPermissionsOfRights } from "../../../src/accounts/applications/rights.ts";
import { apiKeys } from "../../../src/platform/db/schema/api-keys.ts";
import { keyringOf } from "../../../src/platform/keys/keyrings.ts";
import { type Answer, expectRefusal, send } from "../../support/access.ts";
import { auditOf, type Seated, seated } from "../../support/api-keys.ts";
import { askedPage } from "../../support/application-questions.ts";
import { expectDocumented } from "../../support/documented.ts";
import { seedSession } from "../../support/people.ts";
import { testDb } from "../../support/worker-merchant.ts";

const REDIRECT = "https://shop.example/callback?x=1";
const RIGHTS = ["btcpay.store.canviewinvoices", "btcpay.store.cancreateinvoice"] as const;

const queryOf = (redirect: string) =>
  `permissions=${RIGHTS.join("&permissions=")}&redirect=${encodeURIComponent(redirect)}`;

interface Given {
  readonly question?: string | undefined;
  readonly redirect?: string | null;
  readonly rights?: readonly string[];
}

async function give(by: Seated, { question, redirect = REDIRECT, rights = RIGHTS }: Given, headers = by.headers) {
  const body = {
    question: question ?? (await askedPage(queryOf(REDIRECT))).token,
    application: "Woo",
    redirect,
    rights,
  };
  return send(`/api/v1/merchants/merchant/${by.merchantId}/applications`, { method: "POST", body, headers });
}

/** Sends a request with the granted key, as the application would; returns its status. */
async function statusIn({ merchantId }: Seated, { json }: Answer): Promise<number> {
  const headers = { authorization: `token ${json?.secret}` };
  return (await send(`/api/v1/stores/${merchantId}/invoices`, { headers })).status;
}

describe("the page that an application opens", () => {
  it.each([
    ["https://shop.example/callback?x=1", "https://shop.example"],
    ["http://localhost:8080/callback", "http://localhost:8080"],
    ["https://shop.example/;script-src *", undefined],
    ["http://shop.example/callback", undefined],
    ["javascript:alert(1)", undefined],
    ["https://*.example/", undefined],
    ["https://shop.example@evil.example/", undefined],
  ])("may submit forms only to the origin of a safe redirect address: %s", async (redirect, origin) => {
    const { policy, token } = await askedPage(queryOf(redirect));
    expect(policy).toContain(`form-action ${origin ?? "'none'"};`);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("*");
    expect(token === undefined).toBe(origin === undefined);
  });

  it("may submit no form if the request has no redirect address; the same applies to the console's other pages", async () => {
    expect(await askedPage(`permissions=${RIGHTS[0]}`)).toMatchObject({
      policy: expect.stringContaining("form-action 'none'"),
      token: expect.any(String),
    });
    const other = await exports.default.fetch(`http://localhost:8787/console?${queryOf(REDIRECT)}`, {
      headers: { accept: "text/html" },
    });
    expect(other.headers.get("content-security-policy")).toContain("form-action 'none'");
    await other.body?.cancel();
  });
});

describe("a key for an application", () => {
  it("has exactly the requested rights, names its origin, and works", async () => {
    const owner = await seated("OWNER");
    const answer = await give(owner, {});
    expect(answer.status, answer.text).toBe(201);
    expectDocumented(newApiKeyBody, answer.json);
    expect(answer.json).toMatchObject({
      name: "Woo",
      kind: "SECRET",
      permissions: keyPermissionsOfRights(RIGHTS),
      givenTo: "https://shop.example",
      expiresUnusedAt: expect.any(String),
    });
    expect(await statusIn(owner, answer)).toBe(200);
    const [entry] = await auditOf(owner.merchantId);
    expect(JSON.parse(entry?.after ?? "")).toMatchObject({ name: "Woo", givenTo: "https://shop.example" });
    const [row] = await testDb.select().from(apiKeys).where(eq(apiKeys.merchantId, owner.merchantId));
    expect(JSON.parse(row?.rights ?? "")).toEqual(RIGHTS);
  });

  it("reports exactly the granted rights when the plugin asks, even if one right includes another", async () => {
    const owner = await seated("OWNER");
    for (const rights of [
      ["btcpay.store.canmodifyinvoices"],
      ["btcpay.store.canmodifystoresettings"],
      RIGHTS,
      ["btcpay.store.canviewstoresettings", RIGHTS[1]],
    ]) {
      const { json } = await give(owner, { rights });
      const asked = { headers: { authorization: `token ${json?.secret}` } };
      const answer = await send("/api/v1/api-keys/current", asked);
      expect(answer.json?.permissions).toEqual(rights.map((right) => `${right}:${owner.merchantId}`));
      expect((await send(`/api/v1/stores/${owner.merchantId}/invoices`, asked)).status).toBe(200);
    }
  });

  it("works only through the routes of BTCPay Server's API, whatever its permissions allow elsewhere", async () => {
    const owner = await seated("OWNER");
    const { json } = await give(owner, {});
    const secret = String(json?.secret);
    expect(secret).toMatch(/^ak_/);
    const path = `/api/v1/merchants/merchant/${owner.merchantId}/invoices`;
    for (const headers of [{ "x-api-key": secret }, { authorization: `Bearer ${secret}` }])
      for (const at of [path, "/mcp", "/api/v1/me"]) expectRefusal(await send(at, { headers }), 401, "UNAUTHORIZED");
    const rotated = await owner.keys(`/${json?.id}/rotate`, { method: "POST", body: { overlapHours: 0 } });
    expect(rotated.json?.secret).toMatch(/^ak_/);
    expect(await statusIn(owner, rotated)).toBe(200);
  });

  it("is created once per request, no matter how often or by whom the request is granted", async () => {
    const [owner, other] = [await seated("OWNER"), await seated("OWNER")];
    const { token: question } = await askedPage(queryOf(REDIRECT));
    const answers = await Promise.all([
      give(owner, { question }),
      give(owner, { question }),
      give(other, { question }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expectRefusal(await give(owner, { question }), 409, "AUTHORIZATION_OVER");
    const made = answers.find(({ status }) => status === 201)?.json;
    const maker = made?.merchantId === owner.merchantId ? owner : other;
    expect((await maker.keys(`/${made?.id}`, { method: "DELETE" })).status).toBe(204);
    expectRefusal(await give(maker, { question }), 409, "AUTHORIZATION_OVER");
  });

  it("is returned again for the same idempotency key", async () => {
    const owner = await seated("OWNER");
    const { token: question } = await askedPage(queryOf(REDIRECT));
    const headers = { ...owner.headers, "idempotency-key": "authorize-1" };
    const [first, second] = [await give(owner, { question }, headers), await give(owner, { question }, headers)];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.json?.secret).toBe(first.json?.secret);
  });

  it.each([
    ["a different origin", { redirect: "https://evil.example/callback" }, 409],
    ["a different port", { redirect: "https://shop.example:8443/callback" }, 409],
    ["no redirect address", { redirect: null }, 409],
    ["a made-up request token", { question: "abc" }, 409],
    ["an unencrypted address", { redirect: "http://shop.example/callback" }, 400],
    ["a right that cannot be granted", { rights: ["unrestricted"] }, 400],
    ["no rights", { rights: [] }, 400],
  ])("is refused if the grant differs from the page's request or is invalid: %s", async (_, given, status) => {
    const owner = await seated("OWNER");
    expect((await give(owner, given)).status).toBe(status);
    expect((await owner.keys("")).json?.data).toEqual([]);
  });

  it("is not created for an expired request", async () => {
    const keys = keyringOf(env, "API_KEY_MAC_KEY");
    if (!keys.ok) throw new Error(keys.error);
    const asked = { keys: keys.value, origin: "https://shop.example", nowMs: Date.now() - 31 * 60_000 };
    const question = newQuestionToken(asked, (count) => crypto.getRandomValues(new Uint8Array(count)));
    expectRefusal(await give(await seated("OWNER"), { question }), 409, "AUTHORIZATION_OVER");
  });

  it("is not created by a user who may not create keys, or without a recent factor", async () => {
    for (const role of ["MEMBER", "VIEWER"] as const)
      expectRefusal(await give(await seated(role), {}), 403, "PERMISSION_DENIED");
    const owner = await seated("OWNER");
    const stale = await seedSession(owner.userId, { factorAtMs: Date.now() - 6 * 60_000 });
    expectRefusal(await give(owner, {}, stale), 403, "STEP_UP_REQUIRED");
  });

  it("expires after an hour if it is never used, and has no expiry once it is used", async () => {
    const owner = await seated("OWNER");
    const makeOver = (id: unknown) =>
      testDb
        .update(apiKeys)
        .set({ unusedUntilMs: Date.now() - 1 })
        .where(eq(apiKeys.question, String(id)));
    const [unused, used] = [await give(owner, {}), await give(owner, {})];
    const statusOf = (answer: Answer) => statusIn(owner, answer);
    expect(await statusOf(used)).toBe(200);
    const rows = await testDb.select().from(apiKeys).where(eq(apiKeys.merchantId, owner.merchantId));
    for (const { question } of rows) await makeOver(question);
    await expect.poll(() => statusOf(used)).toBe(200);
    expect(await statusOf(unused)).toBe(401);
    expect((await owner.keys(`/${used.json?.id}`)).json).toMatchObject({ expiresUnusedAt: null });
  });
});
