import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ControlPort, openControlPort } from "../../../scripts/control-port.ts";
import { rpcAt } from "../../../scripts/demo-story/rpc.ts";
import { until } from "../../../scripts/demo-story/until.ts";
import { randomHex } from "../../support/wallet-bodies.ts";

const home = mkdtempSync(join(tmpdir(), "edgetill-control-"));
let control: ControlPort;
let place: URL;
let token: string;

beforeAll(async () => {
  control = await openControlPort(home);
  place = new URL(control.variables.DEV_CONTROL ?? "");
  token = place.pathname.slice(1);
});
afterAll(async () => {
  await control.stop();
  rmSync(home, { recursive: true, force: true });
});

const chainUrl = (of = control) => {
  const { ETH_SEPOLIA } = JSON.parse(of.variables.CHAIN_SOURCES ?? "{}");
  return String(ETH_SEPOLIA[0].url);
};

interface Ask {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends a request without fetch, whose caller cannot set the host. */
function ask({ method = "GET", path = `/${token}/chain`, headers = {}, body }: Ask = {}) {
  return new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port: place.port, method, path, headers }, async (response) => {
      let text = "";
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode, text });
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

const payment = { cryptocurrency: "USDC", network: "ETH_SEPOLIA", address: `0x${randomHex(20)}`, amountDue: "49.9" };
const pay = (body: object) => ask({ method: "POST", path: `/${token}/payments`, body: JSON.stringify(body) });

describe("the control port", () => {
  test.each<[string, () => Ask]>([
    ["without the token", () => ({ path: "/chain" })],
    ["with a wrong token", () => ({ path: `/${"0".repeat(token.length)}/chain` })],
    ["with part of the token", () => ({ path: `/${token.slice(1)}/chain` })],
    ["from a page on another origin", () => ({ headers: { origin: "https://evil.example" } })],
    ["from a page of the development server itself", () => ({ headers: { origin: "http://localhost:8787" } })],
    ["from a sandboxed page", () => ({ headers: { origin: "null" } })],
    ["to a name that resolves to this machine", () => ({ headers: { host: `rebound.example:${place.port}` } })],
    ["to the name localhost, as a web page would", () => ({ headers: { host: `localhost:${place.port}` } })],
    ["to an unknown path", () => ({ path: `/${token}/other` })],
    ["with a different method", () => ({ method: "DELETE" })],
  ])("answers 404 to requests %s, and starts nothing", async (_, refused) => {
    const { method = "POST", ...of } = refused();
    expect(await ask({ method, ...of })).toEqual({ status: 404, text: "{}" });
    expect(JSON.parse((await ask()).text)).toMatchObject({ state: "STOPPED" });
  });

  test("cannot pay before the chain runs", async () => {
    expect((await pay({ ...payment, requiredConfirmations: 1 })).status).toBe(500);
  });

  test("starts only one chain even if called repeatedly, pays exactly what is due, and mines the confirmations", async () => {
    const started = await Promise.all([1, 2].map(() => ask({ method: "POST" })));
    const running = { state: "RUNNING", network: "ETH_SEPOLIA", cryptocurrency: "USDC" };
    expect(started.map(({ status, text }) => [status, JSON.parse(text)])).toEqual([1, 2].map(() => [200, running]));
    const rpc = rpcAt(chainUrl());
    expect(Number(await rpc("eth_chainId"))).toBe(11_155_111);
    const before = Number(await rpc("eth_blockNumber"));
    expect((await pay({ ...payment, requiredConfirmations: 3 })).status).toBe(200);
    await until(
      async () => Number(await rpc("eth_blockNumber")),
      (height) => height === before + 3,
      30_000,
    );
    const [log] = (await rpc("eth_getLogs", { fromBlock: `0x${(before + 1).toString(16)}` })) as { data: string }[];
    expect(BigInt(log?.data ?? "0x0")).toBe(49_900_000n);
  });

  test("starts a chain that no web page may read", async () => {
    const headers = { origin: "https://evil.example", "access-control-request-method": "POST" };
    const preflight = await fetch(chainUrl(), { method: "OPTIONS", headers });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
    await preflight.arrayBuffer();
  });

  test.each([
    { ...payment, requiredConfirmations: 1, network: "ETH" },
    { ...payment, requiredConfirmations: 1, amountDue: "0" },
    { ...payment, requiredConfirmations: 1_000 },
    { ...payment, requiredConfirmations: 1, address: "x".repeat(5_000) },
  ])("refuses a payment that no payment method asks for: case %#", async (body) => {
    expect((await pay(body)).status).toBe(500);
  });

  test("ends its chain when it ends, and the next start in the same home continues that chain", async () => {
    const height = Number(await rpcAt(chainUrl())("eth_blockNumber"));
    await until(
      async () => existsSync(join(home, "test-chain.json")),
      (isThere) => isThere,
      30_000,
    );
    await control.stop();
    await expect(rpcAt(chainUrl())("eth_blockNumber")).rejects.toThrow();
    await expect(ask()).rejects.toThrow();
    const next = await openControlPort(home);
    await next.resume();
    expect(Number(await rpcAt(chainUrl(next))("eth_blockNumber"))).toBeGreaterThanOrEqual(height);
    await next.stop();
  });

  test("does not start a chain by itself in a home that has never had a chain", async () => {
    const fresh = mkdtempSync(join(tmpdir(), "edgetill-control-"));
    const other = await openControlPort(fresh);
    await other.resume();
    await expect(rpcAt(chainUrl(other))("eth_blockNumber")).rejects.toThrow();
    await other.stop();
    rmSync(fresh, { recursive: true, force: true });
  });
});
