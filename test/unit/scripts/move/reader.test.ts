// How a move reads from a server, including responses of proxies in front of it.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { baseUrlOf, folderReader, readerOf } from "../../../../scripts/move/reader.ts";
import { type Listening, listen } from "../../../support/listen.ts";

const open: Listening[] = [];
async function serving(answer: RequestListener) {
  const server = await listen(createServer(answer));
  open.push(server);
  return { origin: server.origin, read: readerOf({ baseUrl: server.origin, key: ["authorization", "token secret"] }) };
}
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

describe("a read", () => {
  it("sends the key to the named server, and returns the parsed JSON", async () => {
    const { read } = await serving(({ headers, url }, response) => {
      response.end(JSON.stringify({ url, key: headers.authorization }));
    });
    expect(await read("/api/v1/stores")).toEqual({ ok: true, value: { url: "/api/v1/stores", key: "token secret" } });
  });

  it("follows no redirect, so that no other server gets the key", async () => {
    let seen = 0;
    const other = await serving((_, response) => {
      seen += 1;
      response.end("[]");
    });
    const { read } = await serving((_, response) => {
      response.writeHead(302, { location: `${other.origin}/api/v1/stores` }).end();
    });
    await expect(read("/api/v1/stores")).rejects.toThrow(`redirect to ${other.origin}`);
    expect(seen).toBe(0);
  });

  it.each([
    [403, "FORBIDDEN"],
    [404, "ABSENT"],
  ])("answered with %i returns %s", async (status, error) => {
    const { read } = await serving((_, response) => void response.writeHead(status).end("{}"));
    expect(await read("/api/v1/stores")).toEqual({ ok: false, error });
  });

  it.each([
    ["a refusal of the key", 401, "{}", "the key was refused"],
    ["a server error", 502, "{}", "answered with 502"],
    ["no content", 204, "", "answered with 204"],
    ["a web page", 200, "<!doctype html><p>Sign in</p>", "answered with a web page"],
    ["half of its JSON", 200, '[{"id": "S1"', "answered with broken JSON"],
  ])("answered with %s ends the move, without the key in the message", async (_, status, body, message) => {
    const { read } = await serving((__, response) => void response.writeHead(status).end(body));
    const failed = await read("/api/v1/stores").then(
      () => "",
      (error: Error) => error.message,
    );
    expect(failed).toContain(message);
    expect(failed).not.toContain("secret");
  });

  it("whose response breaks off ends the move", async () => {
    const { read } = await serving((_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("[1", () => response.destroy());
    });
    await expect(read("/api/v1/stores")).rejects.toThrow(/the answer broke off|no answer/);
  });

  it("from an unreachable server ends the move", async () => {
    const gone = await serving((_, response) => void response.end());
    await open.pop()?.close();
    await expect(gone.read("/api/v1/stores")).rejects.toThrow("no answer");
  });
});

describe("an address", () => {
  it.each([
    ["https://btcpay.example/", "https://btcpay.example"],
    ["https://example.com/btcpay/", "https://example.com/btcpay"],
    ["http://localhost:8787", "http://localhost:8787"],
    ["http://127.0.0.1:1/", "http://127.0.0.1:1"],
  ])("%s is accepted", (text, base) => expect(baseUrlOf("--from", text)).toBe(base));

  it.each([
    "btcpay.example",
    "http://btcpay.example",
    "ftp://btcpay.example",
    "https://me:secret@btcpay.example",
    "https://btcpay.example/?key=1",
    "https://btcpay.example/#a",
    "http://localhost.evil.example",
  ])("%s is refused", (text) => expect(() => baseUrlOf("--from", text)).toThrow(/^--from must/));
});

it("a reader of a folder reads each response from the file at its path, and never a file outside the folder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "edgetill-move-"));
  mkdirSync(join(folder, "stores/S1"), { recursive: true });
  writeFileSync(join(folder, "stores/S1/webhooks.json"), "[]");
  const read = folderReader(folder);
  expect(await read("/api/v1/stores/S1/webhooks?a=b")).toEqual({ ok: true, value: [] });
  expect(await read("/api/v1/stores")).toEqual({ ok: false, error: "ABSENT" });
  await expect(read("/api/v1/../secrets")).rejects.toThrow("no file");
  rmSync(folder, { recursive: true });
});
