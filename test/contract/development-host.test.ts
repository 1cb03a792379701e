// A development server is for its own machine only, because it has a mailbox that anyone can read. A page on another site can make its site's name
// resolve to loopback (DNS rebinding); its requests then arrive with that name as their host.
import { request } from "node:http";
import { expect, test } from "vitest";
import { service } from "./client.ts";

const { hostname, port } = new URL(service.baseUrl);

const statusFor = (host: string, path: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    const asked = request({ host: hostname, port, path, headers: { host } }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode));
    });
    asked.on("error", reject);
    asked.end();
  });

test.each(["localhost", "127.0.0.1", "[::1]"])("a request for %s is answered", async (name) => {
  expect(await statusFor(`${name}:${port}`, "/dev/mail")).toBe(200);
});

test.each([`rebound.example:${port}`, "rebound.example", `192.168.1.5:${port}`, `shop.localhost:${port}`])(
  "a request for %s is refused",
  async (host) => {
    for (const path of ["/dev/mail", "/", "/api/v1/me", "/openapi.json"])
      expect([path, await statusFor(host, path)]).toEqual([path, 500]);
    expect(await statusFor(host, "/healthz")).toBe(503);
  },
);
