import { afterEach, describe, expect, it, vi } from "vitest";
import { expectHeaders, seedShop, sendWith } from "../../support/access.ts";

/** The type of an environment, for settings that may be missing or malformed. */
const vars = (changes: Readonly<Record<string, string | undefined>>) => changes as unknown as Partial<Env>;
const healthWith = async (changes: Readonly<Record<string, string | undefined>>) => {
  const answer = await sendWith(vars(changes), "/healthz");
  expectHeaders(answer);
  return [answer.status, answer.json?.status, answer.json?.warnings];
};
const WALLET = {
  walletType: "DIRECT_WALLET",
  cryptocurrency: "ETH",
  network: "ETH",
  address: "0x52908400098527886E0F7030069857D2E4169EE7",
};

afterEach(() => {
  vi.restoreAllMocks();
});

describe("settings:", () => {
  it.each([
    ["RATE_SOURCE", "coinbase", "RATE_SOURCE_INVALID"],
    ["CHAIN_SOURCES", "{", "CHAIN_SOURCES_INVALID"],
    ["CHAIN_SOURCES", '{"ETH":[]}', "CHAIN_SOURCES_INVALID"],
    ["CODE_PEPPER", "", "CODE_PEPPER_INVALID"],
    ["SECRETS_AES_KEY", "", "SECRETS_AES_KEY_INVALID"],
    ["SIGNING_KEY", "", "SIGNING_KEY_INVALID"],
    ["API_KEY_MAC_KEY", "", "API_KEY_MAC_KEY_INVALID"],
    ["SIGN_IN_PROVIDERS", "{", "SIGN_IN_PROVIDERS_INVALID"],
    ["MAIL_PROVIDER", "{", "MAIL_PROVIDER_INVALID"],
    ["CHAIN_SOURCES_3", "{", "CHAIN_SOURCES_INVALID"],
    ["ALERT_WEBHOOK_URL", "https://10.0.0.1/", "ALERT_WEBHOOK_INVALID"],
    ["ALERT_WEBHOOK_URL", "http://oncall.shop.com/", "ALERT_WEBHOOK_INVALID"],
    ["ALERT_WEBHOOK_SECRET", "whsec_", "ALERT_WEBHOOK_INVALID"],
  ])("an invalid %s=%s is a warning in a healthy deployment", async (name, value, warning) => {
    expect(await healthWith({ [name]: value })).toEqual([200, "ok", [warning, "NETWORK_NOT_WATCHED"]]);
  });

  it("an empty PUBLIC_URL in production is a warning", async () => {
    const production = {
      ENVIRONMENT: "production",
      RATE_SOURCE: "coinbase,kraken",
      MAIL_PROVIDER: '{"kind":"cloudflare"}',
      PUBLIC_URL: "",
    };
    expect(await healthWith(production)).toEqual([200, "ok", ["PUBLIC_URL_MISSING", "NETWORK_NOT_WATCHED"]]);
  });

  it.each(["WEBHOOK_LOOPBACK", "WEBHOOK_SCHEDULE_SECONDS"])("%s in production stops the service", async (name) => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const production = vars({ ENVIRONMENT: "production", [name]: "0" });
    expect((await sendWith(production, "/docs")).status).toBe(500);
    const health = await sendWith(production, "/healthz");
    expect([health.status, health.json?.warnings]).toMatchObject([
      503,
      expect.arrayContaining(["DEVELOPMENT_SETTING_IN_PRODUCTION"]),
    ]);
    expect((await sendWith(vars({ ENVIRONMENT: "production" }), "/docs")).status).toBe(200);
  });

  it.each(["http://pay.example", "http://localhost.example", "HTTP://pay.example", "pay.example"])(
    "PUBLIC_URL=%s in production stops the service",
    async (PUBLIC_URL) => {
      vi.spyOn(console, "error").mockImplementation(() => {});
      const production = vars({ ENVIRONMENT: "production", WEBHOOK_LOOPBACK: "", PUBLIC_URL });
      expect((await sendWith(production, "/docs")).status).toBe(500);
      const health = await sendWith(production, "/healthz");
      expect([health.status, health.json?.warnings]).toMatchObject([
        503,
        expect.arrayContaining(["PUBLIC_URL_INSECURE"]),
      ]);
      const secure = vars({ ENVIRONMENT: "production", WEBHOOK_LOOPBACK: "", PUBLIC_URL: "https://pay.example" });
      expect((await sendWith(secure, "/docs")).status).toBe(200);
    },
  );

  it.each([
    ["a public PUBLIC_URL", { PUBLIC_URL: "https://pay.example" }, ""],
    ["a different host", {}, "http://rebound.example:8787"],
    ["a different host, and no PUBLIC_URL", { PUBLIC_URL: "" }, "https://shop.workers.dev"],
  ])("development refuses requests with %s", async (_, changes, origin) => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    for (const path of ["/dev/mail", "/openapi.json", "/", "/api/v1/me", "/test-chain"]) {
      const answer = await sendWith(vars(changes), `${origin}${path}`);
      expect([path, answer.status, answer.json?.code]).toEqual([path, 500, "INTERNAL_ERROR"]);
    }
    expect(logged).toHaveBeenCalledWith(expect.stringContaining("another host"));
    const health = await sendWith(vars(changes), `${origin}/healthz`);
    expect([health.status, health.json?.warnings]).toMatchObject([
      503,
      expect.arrayContaining(["DEVELOPMENT_SETTING_IN_PRODUCTION"]),
    ]);
  });

  it.each(["http://localhost:8787", "http://127.0.0.1:1", "http://[::1]:8787"])(
    "development is served at %s",
    async (origin) => {
      expect((await sendWith({}, `${origin}/dev/mail`)).status).toBe(200);
    },
  );

  it.each([undefined, "", "k1:dG9vIHNob3J0"])("ROW_MAC_KEY=%s makes the deployment degraded", async (ROW_MAC_KEY) => {
    expect(await healthWith({ ROW_MAC_KEY })).toEqual([
      503,
      "degraded",
      ["ROW_MAC_KEY_INVALID", "NETWORK_NOT_WATCHED"],
    ]);
  });

  it("chain sources are not exposed: /healthz shows only the canonical name of a watched network", async () => {
    const sources = '{"ethereum":[{"kind":"evm-rpc","url":"https://user:hunter2@node.example"}]}';
    const answer = await sendWith(vars({ CHAIN_SOURCES: sources }), "/healthz");
    expect(answer.json).toMatchObject({ networks: { ETH: { height: null, lagSeconds: null } }, warnings: [] });
    expect(answer.text).not.toMatch(/hunter2|node\.example/);
  });

  it("an invalid RATE_SOURCE affects only rates: invoices can be created, read and listed, with RATE_UNAVAILABLE", async () => {
    const logged = vi.spyOn(console, "error").mockReturnValue();
    const { merchantId, secretKey } = await seedShop();
    const base = `/api/v1/merchants/merchant/${merchantId}`;
    const bad = vars({ RATE_SOURCE: "frankfurter" });
    const ask = { key: secretKey, method: "POST" };
    const wallet = await sendWith(bad, `${base}/wallets`, { ...ask, body: WALLET });
    expect(wallet.status).toBe(201);
    const made = await sendWith(bad, `${base}/invoices`, { ...ask, body: { name: "Order", rawAmount: 10 } });
    expect([made.status, made.json]).toMatchObject([
      201,
      { paymentMethods: [{ status: "UNAVAILABLE", reason: "RATE_UNAVAILABLE" }] },
    ]);
    const read = await sendWith(bad, `${base}/invoices/${String(made.json?.id)}`, { key: secretKey });
    const list = await sendWith(bad, `${base}/invoices`, { key: secretKey });
    expect([read.status, list.status]).toEqual([200, 200]);
    expect(logged).toHaveBeenCalledWith("rates:", expect.stringContaining("RATE_SOURCE"));
  });

  it("an invalid CHAIN_SOURCES affects no registration: wallets are registered, and their network counts as not watched", async () => {
    const { merchantId, secretKey } = await seedShop();
    const bad = vars({ CHAIN_SOURCES: '{"ETH":"https://user:hunter2@node.example"}' });
    const path = `/api/v1/merchants/merchant/${merchantId}/wallets`;
    const wallet = await sendWith(bad, path, { key: secretKey, method: "POST", body: WALLET });
    expect([wallet.status, wallet.json?.warnings]).toEqual([201, expect.arrayContaining(["NETWORK_NOT_WATCHED"])]);
    expect(wallet.text).not.toContain("hunter2");
  });
});
