import { describe, expect, it } from "vitest";
import { type Ask, expectHeaders, expectRefusal, seedKey, seedMerchant, send } from "../../support/access.ts";
import { attempt, pathOf, specNamed } from "../../support/access-attempt.ts";
import { FROM_ANY_PAGE, OPEN, PAGES, USER } from "../../support/access-table.ts";
import { seedMember, seedPolicy, seedSession, seedUser } from "../../support/people.ts";

describe.each(Object.entries(USER))("%s", (name, demands) => {
  const isChange = !name.startsWith("GET ");
  const refuse = async (ask: Ask, status: number, code: string) => {
    const answers = await attempt(specNamed(name), {}, ask);
    const refusals = answers.map((answer) => expectRefusal(answer, status, code));
    expect(new Set(refusals.map((each) => JSON.stringify(each))).size).toBe(1);
    return refusals[0];
  };
  /** Creates a user with access to the route, unless `changes` remove it. */
  const seedCaller = (changes: Parameters<typeof seedUser>[0] = {}) =>
    seedUser({ ...(demands.includes("operator") ? { operatorSinceMs: Date.now() } : {}), ...changes });
  const isLetIn = async (headers: Readonly<Record<string, string>>) => {
    for (const answer of await attempt(specNamed(name), {}, { headers })) {
      expectHeaders(answer);
      // A 401 here may only mean that an earlier request of this check ended the session, or that a code is wrong.
      if (answer.status === 401) expect(["UNAUTHORIZED", "INVALID_CODE"]).toContain(answer.json?.code);
      else expect([200, 201, 202, 204, 400, 404, 409, 413, 415, 422]).toContain(answer.status);
    }
  };

  it("is open to a signed-in user, even if a team locks them out", async () => {
    const { userId, headers } = await seedCaller();
    const strict = await seedMerchant();
    await seedPolicy(strict, { enforceTfa: true, enforcePasskey: true });
    await seedMember(strict, userId, "MEMBER");
    await isLetIn(headers);
  });

  it("answers everyone who is not signed in with the same 401", async () => {
    const { userId } = await seedCaller();
    const revoked = await seedSession(userId, { revokedAtMs: Date.now() });
    const refusals = await Promise.all([{}, { headers: revoked }].map((ask) => refuse(ask, 401, "UNAUTHORIZED")));
    expect(refusals[0]).toEqual(refusals[1]);
  });

  it("is closed to API keys: SESSION_REQUIRED for a valid one, 401 for an invalid one", async () => {
    const merchantId = await seedMerchant();
    const { headers } = await seedCaller();
    const publicKey = await seedKey(merchantId, { kind: "PUBLIC" });
    await refuse({ key: await seedKey(merchantId), headers }, 403, "SESSION_REQUIRED");
    await refuse({ key: publicKey }, 403, "SESSION_REQUIRED");
    const expired = await seedKey(merchantId, { expiresAtMs: Date.now() - 1 });
    for (const key of ["letmein", expired]) await refuse({ key, headers }, 401, "UNAUTHORIZED");
  });

  it(`is ${demands.includes("pending") ? "open" : "closed"} before the second factor is given`, async () => {
    const { userId } = await seedCaller({ emailOtpEnabledAtMs: Date.now() });
    const headers = await seedSession(userId, { state: "PENDING_2FA" });
    if (demands.includes("pending")) await isLetIn(headers);
    else expect(await refuse({ headers }, 403, "SECOND_FACTOR_REQUIRED")).toMatchObject({ factors: ["email_code"] });
  });

  if (isChange) {
    it("is closed to a session from another origin, and to one without an Origin header", async () => {
      const { headers } = await seedCaller();
      const { cookie = "" } = headers;
      await refuse({ headers: { cookie } }, 403, "ORIGIN_NOT_ALLOWED");
      await refuse({ headers: { cookie, origin: "https://evil.example" } }, 403, "ORIGIN_NOT_ALLOWED");
    });
  }

  if (demands.includes("operator")) {
    it("is closed to a user who is not an operator, whatever they own and however recent their factor", async () => {
      const { userId, headers } = await seedUser();
      await seedMember(await seedMerchant(), userId, "OWNER");
      await refuse({ headers }, 403, "OPERATOR_REQUIRED");
    });
  }

  if (demands.includes("step-up")) {
    it("requires a factor from the last 5 minutes", async () => {
      const { userId } = await seedCaller();
      const headers = await seedSession(userId, { factorAtMs: Date.now() - 300_001 });
      await refuse({ headers }, 403, "STEP_UP_REQUIRED");
    });
  }
});

describe.each(OPEN)("%s", (name) => {
  it("is open to anyone, even with an invalid key or session", async () => {
    const spec = specNamed(name);
    const asks: readonly Ask[] = [{}, { key: "letmein" }, { headers: { cookie: "session=unknown" } }];
    const answers = await Promise.all(
      asks.map((ask) =>
        send(pathOf(spec), { method: spec.method, ...(spec.method === "GET" ? {} : { body: {} }), ...ask }),
      ),
    );
    for (const answer of answers) {
      expectHeaders(answer);
      expect([200, 202, 302, 303, 400, 404, 422]).toContain(answer.status);
      expect(answer.json?.code).not.toBe("UNAUTHORIZED");
    }
    expect(new Set(answers.map(({ status }) => status)).size).toBe(1);
  });

  if (name.startsWith("GET ")) return;
  const isOpen = FROM_ANY_PAGE.includes(name);
  it(`is ${isOpen ? "open" : "closed"} to a page from another origin, and never allows credentials`, async () => {
    const spec = specNamed(name);
    const answer = await send(pathOf(spec), {
      method: spec.method,
      body: {},
      headers: { origin: "https://shop.example" },
    });
    if (isOpen) expectRefusal(answer, 400, "VALIDATION_FAILED");
    else expectRefusal(answer, 403, "ORIGIN_NOT_ALLOWED");
    expect(answer.headers.get("access-control-allow-origin")).toBe(isOpen ? "*" : null);
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  });
});

describe.each(PAGES)("%s", (name) => {
  const spec = specNamed(name);
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const isForm = spec.method !== "GET";

  it("is open to anyone from any origin, and gives the same response with any key or session", async () => {
    const asks: readonly Ask[] = [
      {},
      { key: "letmein" },
      { headers: { cookie: "session=unknown" } },
      { headers: { origin: "https://shop.example" } },
    ];
    const answers = await Promise.all(
      asks.map((ask) =>
        send(pathOf(spec), {
          ...ask,
          method: spec.method,
          ...(isForm ? { body: "unknown=1" } : {}),
          headers: { ...(isForm ? form : {}), ...ask.headers },
        }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status)).size).toBe(1);
    for (const answer of answers) {
      expect([303, 400, 404]).toContain(answer.status);
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      expect(answer.headers.get("set-cookie")).toBeNull();
    }
  });

  it("answers a refusal with an HTML page and its own content security policy", async () => {
    const answer = await send(pathOf(spec), { method: spec.method, ...(isForm ? { body: "{}", headers: form } : {}) });
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'nonce-/);
    expect(answer.text).toMatch(/^<!doctype html>/i);
    expect(answer.text).toContain('lang="en"');
  });

  if (!isForm) return;
  it("accepts only forms, of at most 64 KiB", async () => {
    const refused = async (body: string, headers: Record<string, string>) =>
      (await send(pathOf(spec), { method: "POST", body, headers })).status;
    expect(await refused("{}", { "content-type": "application/json" })).toBeGreaterThanOrEqual(400);
    expect(await refused(`a=${"x".repeat(65_536)}`, form)).toBeGreaterThanOrEqual(400);
  });
});
