// Static assets, which only the real server serves.
import { describe, expect, test } from "vitest";
import { call } from "./client.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

/** Paths of the scripts and style sheets that a page loads. */
async function assetsOf(page: string): Promise<readonly string[]> {
  const { text } = await call(page, { headers: { accept: "text/html" } });
  const named = [...text.matchAll(/<(?:script|link)\b[^>]*?(?:src|href)="([^"]+)"/g)].map(([, path = ""]) => path);
  return named.filter((path) => !path.startsWith("data:"));
}

describe("a file that a page loads", () => {
  test.each([
    ["the checkout", "/pay/inv_none", { js: 1, css: 0 }],
    ["the console", "/console", { css: 1, svg: 1 }],
  ])("(%s) has its hash in its name, may be cached forever, and is not sent again", async (_, page, counts) => {
    const paths = await assetsOf(page);
    for (const [ending, count] of Object.entries(counts))
      expect(paths.filter((path) => path.endsWith(`.${ending}`))).toHaveLength(count);
    for (const path of paths) {
      expect(path).toMatch(/^\/assets\/[a-z-]+-[0-9a-f]{16}\.(js|css|svg)$/);
      const answer = await call(path);
      expect(answer.status).toBe(200);
      expect(answer.text.length).toBeGreaterThan(100);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        "content-type": expect.stringContaining(TYPES[path.slice(path.lastIndexOf("."))] ?? "unknown"),
        "cache-control": "public, max-age=31536000, immutable",
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin",
      });
      const known = { "if-none-match": answer.headers.get("etag") ?? "" };
      const again = await call(path, { headers: known });
      expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: "" });
    }
  });
});

test("the script for shops has the path that BTCPay Server's plugins use, can be loaded by any origin, and is cached briefly", async () => {
  for (const path of ["/modal/btcpay.js", "/modal/btcpay.js?ver=2.7.1"]) {
    const answer = await call(path);
    expect([answer.status, Object.fromEntries(answer.headers)]).toMatchObject([
      200,
      {
        "content-type": expect.stringContaining("text/javascript"),
        "cache-control": "public, max-age=300",
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "cross-origin",
      },
    ]);
    expect(answer.text).toContain("never a proof of payment");
  }
});

describe("an unlisted path", () => {
  test.each([
    "/assets/checkout-0000000000000000.js",
    "/assets/checkout.css",
    "/assets/",
    "/assets",
    "/assets/deeper/still.js",
    "/_headers",
    "/made-from.json",
    "/reference/openapi.json",
    "/reference/docs.html",
    "/docs.html",
    "/console/",
    "/console/mer_1/nothing",
    "/consoles",
  ])("is a 404, even for a browser that navigates there: %s", async (path) => {
    for (const headers of [{}, { accept: "text/html", "sec-fetch-mode": "navigate" }]) {
      const answer = await call(path, { headers });
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ statusCode: 404, code: "ROUTE_NOT_FOUND" });
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("x-request-id")).toBe(answer.body.requestId);
    }
  });

  test("is a 404 even if it encodes the path of a file that only the Worker may serve", async () => {
    const paths = ["/%72eference/docs.html", "/assets/%2e%2e/reference/docs.html", "/%63onsole/page.html"];
    for (const path of [...paths, "/reference%2fdocs.html"]) {
      const answer = await call(path);
      const end = answer.headers.has("location") ? await call(answer.headers.get("location") ?? "") : answer;
      expect(end.status).toBe(404);
    }
  });
});
