import { describe, expect, it } from "vitest";
import {
  configuredProviders,
  isEndpoint,
  parseProvider,
  parseProviders,
} from "../../../../src/accounts/security-policies/providers.ts";

const CLIENT = { clientId: "id", clientSecret: "canary" };

describe("SIGN_IN_PROVIDERS", () => {
  it.each([undefined, "", " ", "{}"])("configures no provider when it is %j", (json) => {
    expect(parseProviders(json)).toEqual({ ok: true, value: {} });
    expect(configuredProviders(json)).toEqual(new Set());
  });

  it("needs no addresses for Google and GitHub", () => {
    expect(parseProviders(JSON.stringify({ google: CLIENT, github: CLIENT }))).toEqual({
      ok: true,
      value: {
        google: { ...CLIENT, issuer: "https://accounts.google.com" },
        github: {
          ...CLIENT,
          authorizeUrl: "https://github.com/login/oauth/authorize",
          tokenUrl: "https://github.com/login/oauth/access_token",
          apiUrl: "https://api.github.com",
        },
      },
    });
  });

  it("lists the providers that are set up", () => {
    expect([...configuredProviders(JSON.stringify({ github: CLIENT }))]).toEqual(["github"]);
  });

  it.each([
    ["text that is not JSON", "canary"],
    ["JSON that is not an object", '"canary"'],
    ["an unknown provider", JSON.stringify({ canary: CLIENT })],
    ["no client id", JSON.stringify({ google: { clientSecret: "canary" } })],
    ["an empty secret", JSON.stringify({ google: { ...CLIENT, clientSecret: "" } })],
    ["an unknown member", JSON.stringify({ google: { ...CLIENT, canary: 1 } })],
    ["an issuer over plain http", JSON.stringify({ google: { ...CLIENT, issuer: "http://canary.example" } })],
    ["a javascript: address", JSON.stringify({ github: { ...CLIENT, authorizeUrl: "javascript:canary()" } })],
    ["an API over plain http", JSON.stringify({ github: { ...CLIENT, apiUrl: "http://canary.example" } })],
  ])("with %s is refused completely, and the error shows no value", (_, json) => {
    const parsed = parseProviders(json);
    expect(parsed).toEqual({ ok: false, error: expect.stringMatching(/^SIGN_IN_PROVIDERS/) });
    expect(JSON.stringify(parsed)).not.toContain("canary");
    expect(configuredProviders(json)).toEqual(new Set());
  });
});

describe("a provider's address", () => {
  it.each([
    ["https://accounts.google.com/x", true, true],
    ["http://127.0.0.1:3000/x", false, true],
    ["http://localhost/x", false, true],
    ["http://[::1]:3000", false, true],
    ["http://accounts.google.com", false, false],
    ["http://localhost.evil.example", false, false],
    ["http://127.0.0.1.evil.example", false, false],
    ["http://127.0.0.1@evil.example", false, false],
    ["ftp://127.0.0.1", false, false],
    ["javascript:alert(1)", false, false],
    ["nothing", false, false],
  ])("%s is accepted: %s in production, %s in development", (url, inProduction, inDevelopment) => {
    expect([isEndpoint(url, false), isEndpoint(url, true)]).toEqual([inProduction, inDevelopment]);
  });
});

describe("a provider's name in a path", () => {
  it.each([
    ["google", "google"],
    ["github", "github"],
    ["Google", undefined],
    ["constructor", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("%j is read as %j", (name, provider) => {
    expect(parseProvider(name)).toBe(provider);
  });
});
