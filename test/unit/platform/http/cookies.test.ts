import { describe, expect, it } from "vitest";
import { clearCookie, readCookie, setCookie } from "../../../../src/platform/http/cookies.ts";

const HTTPS = { PUBLIC_URL: "https://pay.example.com" };
const LOCAL = { PUBLIC_URL: "http://localhost:8787" };

describe("a cookie", () => {
  it("has a name with the prefix that binds it to one origin and to https", () => {
    expect(setCookie(HTTPS, "session", "t", 60)).toBe(
      "__Host-session=t; Path=/; Max-Age=60; Secure; HttpOnly; SameSite=Lax",
    );
    expect(clearCookie(HTTPS, "signin")).toBe("__Host-signin=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax");
  });

  it.each([
    "http://localhost:8787",
    "http://127.0.0.1:1",
    "http://[::1]:8787",
    "http://localhost",
    "http://localhost:8787/ ",
  ])("has neither the prefix nor Secure at %s", (PUBLIC_URL) => {
    expect(setCookie({ PUBLIC_URL }, "session", "t", 60)).toBe("session=t; Path=/; Max-Age=60; HttpOnly; SameSite=Lax");
  });

  it.each([
    "",
    "http://pay.example.com",
    "http://localhost.example.com",
    "http://localhost@evil.example",
    "https://localhost",
  ])("has the prefix and Secure at %j", (PUBLIC_URL) => {
    expect(setCookie({ PUBLIC_URL }, "session", "t", 60)).toMatch(/^__Host-session=.*; Secure;/);
  });

  it.each([
    [LOCAL, "session=a; other=b", "a"],
    [LOCAL, "other=b;session=a", "a"],
    [LOCAL, "xsession=a", undefined],
    [LOCAL, "__Host-session=a", undefined],
    [HTTPS, "__Host-session=a", "a"],
    [HTTPS, "session=a", undefined],
    [LOCAL, "session", undefined],
    [LOCAL, undefined, undefined],
  ])("at %j is read from the header %j as %j", (env, header, value) => {
    expect(readCookie(env, header, "session")).toBe(value);
  });
});
