// The documents are generated when the Worker is built. Serving one must be cheap, and a client that already has it gets a 304.
import { describe, expect, it } from "vitest";
import { send, sendWith } from "../../support/access.ts";

const PATHS = ["/openapi.json", "/greenfield.json", "/docs"];

describe.each(PATHS)("%s", (path) => {
  const known = (tag: string) => send(path, { headers: { "if-none-match": tag } });

  it("may be cached for five minutes, and is answered with 304 and no body if If-None-Match has its etag", async () => {
    const { headers, text } = await send(path);
    expect(headers.get("cache-control")).toBe("public, max-age=300");
    const tag = headers.get("etag") ?? "";
    expect(tag).toMatch(/^"[0-9a-f-]{16,}"$/);
    for (const named of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
      const answer = await known(named);
      expect([answer.status, answer.text, answer.headers.get("etag")]).toEqual([304, "", tag]);
      expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
    }
    for (const other of ["", '"other"', tag.slice(1, -1)]) {
      const answer = await known(other);
      expect([answer.status, answer.text]).toEqual([200, text]);
    }
  });
});

describe("a deployment's document", () => {
  it("has its own origin and etag, and otherwise equals another deployment's document", async () => {
    const [here, there] = [
      await send(PATHS[0] ?? ""),
      await sendWith({ PUBLIC_URL: "http://127.0.0.1:8787/" }, PATHS[0] ?? ""),
    ];
    const [one, other] = [JSON.parse(here.text), JSON.parse(there.text)];
    expect(one.servers).toEqual([{ url: "http://localhost:8787" }]);
    expect(other.servers).toEqual([{ url: "http://127.0.0.1:8787" }]);
    expect({ ...one, servers: [] }).toEqual({ ...other, servers: [] });
    expect(here.headers.get("etag")).not.toBe(there.headers.get("etag"));
  });
});
