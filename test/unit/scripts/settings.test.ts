import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { readSettings, StartError } from "../../../scripts/settings.ts";

describe("the settings of npm start", () => {
  test("without variables are port 8787, fixed rates and the home .edgetill", () => {
    expect(readSettings({})).toEqual({
      port: 8787,
      baseUrl: "http://localhost:8787",
      name: "edgetill",
      home: resolve(".edgetill"),
      variables: {
        ENVIRONMENT: "development",
        PUBLIC_URL: "http://localhost:8787",
        RATE_SOURCE: "fixed",
        CHAIN_SOURCES: "{}",
        EXPLORERS: "{}",
        SIGN_UP: "open",
        SIGN_IN_PROVIDERS: "{}",
        MAIL_PROVIDER: '{"kind":"mailbox"}',
        MAIL_FROM: "Edgetill <edgetill@localhost>",
        POLL_SECONDS: "",
        WEBHOOK_LOOPBACK: "on",
        WEBHOOK_SCHEDULE_SECONDS: "",
        DEV_CONTROL: "",
        RESTORE_EPOCH: "",
        LOG_SAMPLE: "0",
        TURNSTILE_SITE_KEY: "",
        TURNSTILE_SECRET_KEY: "",
        TURNSTILE_ORIGIN: "",
        RATE_LIMIT_PER_MINUTE: "300",
      },
    });
  });

  test("treat an empty variable as unset", () => {
    const names = ["PORT", "EDGETILL_HOME", "RATE_SOURCE", "CHAIN_SOURCES", "MAIL_PROVIDER", "MAIL_FROM"];
    names.push("POLL_SECONDS", "WEBHOOK_SCHEDULE_SECONDS", "RATE_LIMIT_PER_MINUTE");
    expect(readSettings(Object.fromEntries(names.map((name) => [name, " "])))).toEqual(readSettings({}));
  });

  test("ignore ENVIRONMENT, PUBLIC_URL and secrets in the shell's environment", () => {
    const shell = { ENVIRONMENT: "production", PUBLIC_URL: "https://pay.example", ROW_MAC_KEY: "k:v" };
    expect(readSettings(shell)).toEqual(readSettings({}));
  });

  test("derive the base URL from the port, and use it as PUBLIC_URL", () => {
    const { baseUrl, variables } = readSettings({ PORT: "9000" });
    expect([baseUrl, variables.PUBLIC_URL]).toEqual(["http://localhost:9000", "http://localhost:9000"]);
  });

  test("pass on CHAIN_SOURCES unchanged", () => {
    const sources = '{"ethereum":[{"kind":"evm-rpc","url":"http://127.0.0.1:8545/$KEY?a=b#c"}]}';
    expect(readSettings({ CHAIN_SOURCES: sources }).variables.CHAIN_SOURCES).toBe(sources);
  });

  test.each(["2", "0.5"])("pass on POLL_SECONDS=%s unchanged", (text) => {
    expect(readSettings({ POLL_SECONDS: text }).variables.POLL_SECONDS).toBe(text);
  });

  test("pass on WEBHOOK_SCHEDULE_SECONDS unchanged, and always allow loopback, even if the shell forbids it", () => {
    const { variables } = readSettings({ WEBHOOK_SCHEDULE_SECONDS: "0,0.5,2", WEBHOOK_LOOPBACK: "off" });
    expect([variables.WEBHOOK_SCHEDULE_SECONDS, variables.WEBHOOK_LOOPBACK]).toEqual(["0,0.5,2", "on"]);
  });

  test.each([
    ["PORT", "http"],
    ["PORT", "0"],
    ["PORT", "65536"],
    ["PORT", "80.5"],
    ["PORT", "0x50"],
    ["RATE_SOURCE", "bitstamp"],
    ["RATE_SOURCE", "fixed,kraken"],
    ["RATE_SOURCE", "kraken,"],
    ["RATE_SOURCE", "coinbase"],
    ["RATE_SOURCE", "coinbase,coinbase"],
    ["RATE_SOURCE", "frankfurter"],
    ["RATE_SOURCE", "coinbase,frankfurter"],
    ["CHAIN_SOURCES", "ETH"],
    ["CHAIN_SOURCES", "[]"],
    ["CHAIN_SOURCES", "null"],
    ["CHAIN_SOURCES", '{"DOGE":[{"kind":"esplora","url":"https://a.example"}]}'],
    ["CHAIN_SOURCES", '{"ETH":[]}'],
    ["CHAIN_SOURCES", '{"ETH":[{"url":"https://a.example"}]}'],
    ["CHAIN_SOURCES", '{"BTC":[{"kind":"core-rpc"}]}'],
    ["CHAIN_SOURCES", '{"ETH":[{"kind":"evm-rpc","url":"https://a.example","key":"a"}]}'],
    ["MAIL_PROVIDER", "resend"],
    ["MAIL_PROVIDER", '{"kind":"resend"}'],
    ["MAIL_FROM", "Shop"],
    ["POLL_SECONDS", "0"],
    ["POLL_SECONDS", "-1"],
    ["POLL_SECONDS", "soon"],
    ["POLL_SECONDS", "3601"],
    ["WEBHOOK_SCHEDULE_SECONDS", "soon"],
    ["WEBHOOK_SCHEDULE_SECONDS", "0,-1"],
    ["RATE_LIMIT_PER_MINUTE", "-1"],
    ["RATE_LIMIT_PER_MINUTE", "1e3"],
    ["EDGETILL_NAME", "Shop"],
    ["EDGETILL_NAME", "../shop"],
  ])("refuse %s=%s with a message that names the variable", (name, value) => {
    const start = () => readSettings({ [name]: value });
    expect(start).toThrow(StartError);
    expect(start).toThrow(name);
  });

  test("do not show a refused value of CHAIN_SOURCES, which may contain a vendor's key", () => {
    const start = () => readSettings({ CHAIN_SOURCES: "{secret-key" });
    expect(start).toThrow(/^CHAIN_SOURCES must be a JSON object that maps each network to a list of sources\.$/);
  });
});
