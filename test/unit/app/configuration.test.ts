import { describe, expect, it } from "vitest";
import { configurationFaults, refusesToServe } from "../../../src/app/configuration/configuration.ts";

const KEY = `k1:${btoa("0123456789abcdef0123456789abcdef")}`;
const GOOD = {
  ENVIRONMENT: "production",
  PUBLIC_URL: "https://pay.example",
  RATE_SOURCE: "coinbase,kraken",
  ROW_MAC_KEY: KEY,
  CHAIN_SOURCES: '{"ETH":[{"kind":"evm-rpc","url":"https://node.example"}]}',
  EXPLORERS: '{"ETH":{"transaction":"https://explorer.example/tx/{hash}"}}',
  POLL_SECONDS: "2.5",
  CODE_PEPPER: KEY,
  SECRETS_AES_KEY: KEY,
  SIGNING_KEY: KEY,
  API_KEY_MAC_KEY: KEY,
  SIGN_IN_PROVIDERS: '{"google":{"clientId":"a","clientSecret":"b"}}',
  SIGN_UP: "first",
  MAIL_PROVIDER: '{"kind":"resend","apiKey":"re_1"}',
  MAIL_FROM: "Shop <pay@example.com>",
  LOCATION_HINT: "weur",
  WEBHOOK_LOOPBACK: "",
  WEBHOOK_SCHEDULE_SECONDS: "",
  DEV_CONTROL: "",
  TURNSTILE_SITE_KEY: "site",
  TURNSTILE_SECRET_KEY: "secret",
  TURNSTILE_ORIGIN: "",
};
const codes = (changes: Partial<Record<keyof typeof GOOD | "MASTER_KEY" | "CHAIN_SOURCES_2", string | undefined>>) =>
  configurationFaults({ ...GOOD, ...changes }).map((fault) => fault.code);

describe("the variables of a deployment", () => {
  it("have no fault when all are valid", () => {
    expect(codes({})).toEqual([]);
  });

  it.each(["TURNSTILE_SITE_KEY", "TURNSTILE_SECRET_KEY"] as const)(
    "have a non-fatal fault if only %s is missing",
    (name) => {
      expect(configurationFaults({ ...GOOD, [name]: "" })).toMatchObject([
        { code: "TURNSTILE_KEYS_INVALID", isFatal: false },
      ]);
      expect(codes({ TURNSTILE_SITE_KEY: undefined, TURNSTILE_SECRET_KEY: undefined })).toEqual([]);
    },
  );

  it("have a fault for each that is missing or invalid; only a missing ROW_MAC_KEY is fatal", () => {
    const faults = configurationFaults({
      ENVIRONMENT: undefined,
      PUBLIC_URL: undefined,
      RATE_SOURCE: undefined,
      ROW_MAC_KEY: undefined,
      CHAIN_SOURCES: "[]",
      EXPLORERS: "[]",
      POLL_SECONDS: "soon",
      LOCATION_HINT: "mars",
      CODE_PEPPER: undefined,
      SECRETS_AES_KEY: undefined,
      SIGNING_KEY: undefined,
      API_KEY_MAC_KEY: undefined,
      SIGN_IN_PROVIDERS: "[]",
      SIGN_UP: "closed",
      MAIL_PROVIDER: undefined,
      MAIL_FROM: undefined,
      WEBHOOK_LOOPBACK: undefined,
      WEBHOOK_SCHEDULE_SECONDS: undefined,
      DEV_CONTROL: undefined,
    });
    expect(faults.map(({ code, isFatal }) => [code, isFatal])).toEqual([
      ["ROW_MAC_KEY_INVALID", true],
      ["CODE_PEPPER_INVALID", false],
      ["SECRETS_AES_KEY_INVALID", false],
      ["SIGNING_KEY_INVALID", false],
      ["API_KEY_MAC_KEY_INVALID", false],
      ["RATE_SOURCE_INVALID", false],
      ["CHAIN_SOURCES_INVALID", false],
      ["EXPLORERS_INVALID", false],
      ["POLL_SECONDS_INVALID", false],
      ["LOCATION_HINT_INVALID", false],
      ["SIGN_IN_PROVIDERS_INVALID", false],
      ["SIGN_UP_INVALID", false],
      ["MAIL_NOT_CONFIGURED", false],
      ["PUBLIC_URL_MISSING", false],
    ]);
  });

  it.each([
    [{ ROW_MAC_KEY: "k1:short" }, "ROW_MAC_KEY_INVALID"],
    [{ RATE_SOURCE: "coinbase" }, "RATE_SOURCE_INVALID"],
    [{ RATE_SOURCE: "fixed" }, "RATE_SOURCE_INVALID"],
    [{ CHAIN_SOURCES: '{"ETH":[]}' }, "CHAIN_SOURCES_INVALID"],
    [{ EXPLORERS: '{"ETH":{"address":"http://explorer.example/{address}"}}' }, "EXPLORERS_INVALID"],
    [{ POLL_SECONDS: "0" }, "POLL_SECONDS_INVALID"],
    [{ LOCATION_HINT: "WEUR" }, "LOCATION_HINT_INVALID"],
    [{ PUBLIC_URL: " " }, "PUBLIC_URL_MISSING"],
    [{ CODE_PEPPER: "" }, "CODE_PEPPER_INVALID"],
    [{ SECRETS_AES_KEY: "k1:short" }, "SECRETS_AES_KEY_INVALID"],
    [{ SIGNING_KEY: undefined }, "SIGNING_KEY_INVALID"],
    [{ SIGNING_KEY: `${KEY},${KEY}` }, "SIGNING_KEY_INVALID"],
    [{ API_KEY_MAC_KEY: "k1:short" }, "API_KEY_MAC_KEY_INVALID"],
    [{ SIGN_IN_PROVIDERS: '{"google":{}}' }, "SIGN_IN_PROVIDERS_INVALID"],
    [{ SIGN_UP: "closed" }, "SIGN_UP_INVALID"],
    [{ SIGN_UP: "Open" }, "SIGN_UP_INVALID"],
    [{ MAIL_PROVIDER: '{"kind":"smtp"}' }, "MAIL_PROVIDER_INVALID"],
    [{ MAIL_PROVIDER: '{"kind":"mailbox"}' }, "MAIL_PROVIDER_INVALID"],
    [{ MAIL_PROVIDER: "" }, "MAIL_NOT_CONFIGURED"],
    [{ MAIL_FROM: "" }, "MAIL_FROM_INVALID"],
    [{ CHAIN_SOURCES_2: "[]" }, "CHAIN_SOURCES_INVALID"],
    [{ MASTER_KEY: "k1:short" }, "MASTER_KEY_INVALID"],
    [{ MASTER_KEY: `${KEY},${KEY}` }, "MASTER_KEY_INVALID"],
  ])("with %j in production have the fault %s", (changes, code) => {
    expect(codes(changes)).toEqual([code]);
  });

  it("need no secret except MASTER_KEY; a missing mail provider is only a non-fatal fault", () => {
    const { ENVIRONMENT, PUBLIC_URL, RATE_SOURCE, SIGN_UP, MAIL_FROM, LOCATION_HINT, EXPLORERS, POLL_SECONDS } = GOOD;
    const vars = { ENVIRONMENT, PUBLIC_URL, RATE_SOURCE, SIGN_UP, MAIL_FROM, LOCATION_HINT, EXPLORERS, POLL_SECONDS };
    const off = { WEBHOOK_LOOPBACK: "", WEBHOOK_SCHEDULE_SECONDS: "", DEV_CONTROL: "" };
    const faults = (MASTER_KEY: string) =>
      configurationFaults({ ...vars, ...off, MASTER_KEY }).map(({ code, isFatal }) => [code, isFatal]);
    expect(faults(KEY)).toEqual([["MAIL_NOT_CONFIGURED", false]]);
    expect(faults("k1:short")).toEqual([
      ["MASTER_KEY_INVALID", true],
      ["MAIL_NOT_CONFIGURED", false],
    ]);
  });

  it.each([undefined, "", " ", "first", "invite", "open"])("may have SIGN_UP=%j", (SIGN_UP) => {
    expect(codes({ SIGN_UP })).toEqual([]);
  });

  it("may set fixed rates and no public URL in development", () => {
    expect(codes({ ENVIRONMENT: "development", RATE_SOURCE: "fixed", PUBLIC_URL: "" })).toEqual([]);
  });

  it("may set the mailbox as mail provider, without a sender, in development", () => {
    const mailbox = { MAIL_PROVIDER: '{"kind":"mailbox"}', MAIL_FROM: "", PUBLIC_URL: "http://localhost:8787" };
    expect(codes({ ENVIRONMENT: "development", ...mailbox })).toEqual([]);
  });

  it.each([
    { WEBHOOK_LOOPBACK: "on" },
    { WEBHOOK_SCHEDULE_SECONDS: "0,1" },
    { DEV_CONTROL: "http://127.0.0.1:1/x" },
    { TURNSTILE_ORIGIN: "http://127.0.0.1:1" },
  ])("with %j are valid in development, and fatal in production", (setting) => {
    expect(configurationFaults({ ...GOOD, ...setting })).toMatchObject([
      { code: "DEVELOPMENT_SETTING_IN_PRODUCTION", isFatal: true },
    ]);
    const mailbox = { MAIL_PROVIDER: '{"kind":"mailbox"}', MAIL_FROM: "", PUBLIC_URL: "http://localhost:8787" };
    expect(codes({ ...setting, ...mailbox, ENVIRONMENT: "development", RATE_SOURCE: "fixed" })).toEqual([]);
    const soon = { WEBHOOK_SCHEDULE_SECONDS: "soon", ENVIRONMENT: "development", RATE_SOURCE: "fixed" };
    expect(codes({ ...mailbox, ...soon })).toEqual(["WEBHOOK_SCHEDULE_SECONDS_INVALID"]);
  });

  it.each([
    ["https://pay.example", "", false],
    ["http://localhost.pay.example", "", false],
    ["https://192.168.1.5:8787", "", false],
    ["not a URL", "", false],
    ["", "https://shop.workers.dev/healthz", false],
    ["http://localhost:8787", "http://rebound.example:8787/healthz", false],
    ["http://localhost:8787", "http://192.168.1.5:8787/healthz", false],
    ["http://localhost:8787", "http://localhost.:8787/healthz", false],
    ["http://localhost:8787", "http://127.0.0.1:8787/healthz", true],
    ["http://127.0.0.1:1", "http://[::1]:8787/healthz", true],
    ["https://localhost", "http://LOCALHOST/healthz", true],
    ["", "", true],
  ])("for development with PUBLIC_URL=%j and a request to %j are valid: %j", (PUBLIC_URL, askedAt, isGood) => {
    const development = { ...GOOD, ENVIRONMENT: "development", PUBLIC_URL };
    const faults = configurationFaults(development, askedAt);
    expect(faults).toMatchObject(isGood ? [] : [{ code: "DEVELOPMENT_SETTING_IN_PRODUCTION", isFatal: true }]);
    expect(refusesToServe(development, askedAt)).toBe(!isGood);
  });

  it("have faults that do not contain a secret", () => {
    const faults = configurationFaults({
      ...GOOD,
      MASTER_KEY: "hunter2",
      ROW_MAC_KEY: "hunter2",
      CHAIN_SOURCES: '{"ETH":[{"kind":"evm-rpc","url":"https://node.example","headers":{"x-key":["hunter2"]}}]}',
      POLL_SECONDS: "hunter2",
      LOCATION_HINT: "hunter2",
      CODE_PEPPER: "hunter2",
      SECRETS_AES_KEY: "hunter2",
      SIGNING_KEY: "hunter2",
      API_KEY_MAC_KEY: "hunter2",
      SIGN_IN_PROVIDERS: '{"google":{"clientId":"a","clientSecret":["hunter2"]}}',
      MAIL_PROVIDER: '{"kind":"resend","apiKey":["hunter2"]}',
      MAIL_FROM: "hunter2",
    });
    expect(faults).toHaveLength(12);
    expect(JSON.stringify(faults)).not.toContain("hunter2");
  });
});
