import { describe, expect, it } from "vitest";
import { CONSOLE_PAGES } from "../../../src/app/console/paths.ts";
import { expectHeaders, expectRefusal, send, sendWith } from "../../support/access.ts";

const PATHS = Object.values(CONSOLE_PAGES).map(({ path }) => path.replace(":merchantId", "mer_1").replace(/:\w+/, "x"));
/** Headers that browsers send when they navigate. */
const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

describe.each(PATHS)("%s", (path) => {
  it("is the console's page for a navigation, with a content security policy that has a new nonce for each request", async () => {
    const nonces = [];
    for (const answer of [await send(path, { headers: { accept } }), await send(path, { headers: { accept } })]) {
      expectHeaders(answer);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
      const policy = answer.headers.get("content-security-policy") ?? "";
      const [, nonce = "absent"] =
        /script-src 'self' 'nonce-([\w-]{24})'; style-src 'self' 'nonce-\1'/.exec(policy) ?? [];
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|http/);
      expect(answer.text.match(/nonce="([^"]*)"/g)).not.toBeNull();
      expect(answer.text.match(/nonce="([^"]*)"/g)?.every((each) => each === `nonce="${nonce}"`)).toBe(true);
      nonces.push(nonce);
    }
    expect(new Set(nonces).size).toBe(2);
  });

  it("is 404 for a request that is not a navigation, and 405 for another method", async () => {
    for (const headers of [{}, { accept: "*/*" }, { accept: "application/json" }])
      expectRefusal(await send(path, { headers }), 404, "ROUTE_NOT_FOUND");
    expectRefusal(await send(path, { method: "POST", headers: { accept } }), 405, "METHOD_NOT_ALLOWED");
  });
});

describe("the console's page", () => {
  const DEV_CONTROL = "http://127.0.0.1:9/token";
  it.each([
    [{ ENVIRONMENT: "development", DEV_CONTROL }, "mailbox test-chain"],
    [{ ENVIRONMENT: "development", DEV_CONTROL: "" }, "mailbox"],
    [{ ENVIRONMENT: "production" }, ""],
    [{ ENVIRONMENT: "" }, ""],
  ])("with %j offers %j of the development-only features", async (changes, words) => {
    const { text } = await sendWith(changes, "/sign-in", { headers: { accept } });
    expect(text.match(/<meta name="deployment" content="([^"]*)"/)?.[1]).toBe(words);
  });
});

describe("/", () => {
  it("redirects a browser to the console, and is 404 for other clients", async () => {
    const answer = await sendWith({}, "/", { headers: { accept } });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/console"]);
    expectRefusal(await send("/"), 404, "ROUTE_NOT_FOUND");
  });
});

describe("a path that is not a console page", () => {
  it.each(["/console/", "/console/mer_1/", "/console/mer_1/nothing", "/console/page.html/x", "/consoles"])(
    "%s is 404 even for a navigation",
    async (path) => {
      expectRefusal(await send(path, { headers: { accept } }), 404, "ROUTE_NOT_FOUND");
    },
  );
});
