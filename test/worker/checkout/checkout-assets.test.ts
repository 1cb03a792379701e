import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { SCRIPT, SCRIPT_PATH } from "../../../src/checkout/pay/assets.generated.ts";
import { expectRefusal, send } from "../../support/access.ts";
import { ORIGIN } from "../../support/people.ts";

describe("the script of the checkout pages", () => {
  const get = (headers: Record<string, string> = {}) =>
    exports.default.fetch(new Request(`${ORIGIN}${SCRIPT_PATH}`, { headers }));

  it("is served to be kept for good, and for our own pages only", async () => {
    const answer = await get();
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe(SCRIPT);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
    });
  });

  it("is not sent again to a browser that has it", async () => {
    const first = await get();
    await first.text();
    const again = await get({ "if-none-match": first.headers.get("etag") ?? "" });
    expect({ status: again.status, text: await again.text() }).toEqual({ status: 304, text: "" });
  });

  it.each(["/assets/checkout-0000000000000000.js", "/assets/style.css", `${SCRIPT_PATH}.map`])(
    "has nothing at %s",
    async (path) => {
      expectRefusal(await send(path), 404, "ROUTE_NOT_FOUND");
    },
  );
});
