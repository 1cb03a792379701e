import { describe, expect, it } from "vitest";
import {
  DISABLE_WALLET_SCRIPT,
  INVITATION_SCRIPT,
  SIGN_IN_SCRIPT,
} from "../../../src/checkout/small-pages/browser-script.ts";
import { expectHeaders, send, sendWith } from "../../support/access.ts";

const PAGES = ["/sign-in", "/invitations", "/wallets/disable"];

describe.each(PAGES)("%s", (path) => {
  it("is one document whose only script and style carry the nonce of its policy, new for each request", async () => {
    const answers = [await send(path), await send(path)];
    const nonces = answers.map((answer) => {
      expectHeaders(answer);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
      const policy = answer.headers.get("content-security-policy") ?? "";
      const [, nonce = "absent"] = /script-src 'nonce-([\w-]{24})'/.exec(policy) ?? [];
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe");
      expect(answer.text.match(/<(script|style)\b[^>]*>/g)).toEqual([
        `<style nonce="${nonce}">`,
        `<script nonce="${nonce}">`,
      ]);
      return nonce;
    });
    expect(new Set(nonces).size).toBe(2);
  });

  it("loads nothing from other origins", async () => {
    const { text } = await send(path);
    expect(text).not.toMatch(/(src|href)\s*=\s*["']?(https?:)?\/\//);
  });
});

describe("the sign-in page", () => {
  it("offers the configured providers without revealing their secrets", async () => {
    const clients = { google: { clientId: "id-1", clientSecret: "hidden-1" } };
    const { text } = await sendWith({ SIGN_IN_PROVIDERS: JSON.stringify(clients) }, "/sign-in");
    expect(text).toContain('data-providers="google"');
    expect(text).not.toContain("hidden-1");
    expect((await send("/sign-in")).text).toContain('data-providers=""');
  });
});

describe("the scripts of the pages", () => {
  it("insert text and never markup, and cannot close their element", () => {
    for (const script of [SIGN_IN_SCRIPT, INVITATION_SCRIPT, DISABLE_WALLET_SCRIPT]) {
      expect(script).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|<\//);
    }
  });
});
