// The published client in every runtime that it names, with a real service: packed, installed offline, and run.
import { execFile, execFileSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, extname, join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { findFreePort } from "../../scripts/free-port.ts";
import { firstProgram } from "../../scripts/program.ts";
import { listen } from "../support/listen.ts";
import { type PackedClient, packClient } from "../support/packed-client.ts";
import { launchChromium } from "../support/page-browser.ts";
import { howToInstallChromium, isBrowserWanted } from "../support/page-program.ts";
import { expectOk, service, shop, unique } from "./client.ts";

const SERVER_FACTS = {
  isOnce: true,
  exists: ["409 EXTERNAL_ID_EXISTS", true],
  listed: [5, 5, true],
  cancelled: ["CANCELLED", "422 INVOICE_NOT_CANCELLABLE"],
  accepted: ["PAID", "10.500000"],
  events: ["invoice.created", "invoice.paid"],
  returned: [true, "PAID", "SIGNATURE_MISMATCH"],
  webhook: ["ping", "SIGNATURE_MISMATCH"],
  lost: [true, false, "string"],
  missing: "404 WALLET_NOT_FOUND",
};
const PAGE_FACTS = {
  isOnce: true,
  sold: ["19.500000", null, "AWAITING_PAYMENT", true],
  found: true,
  methods: true,
  cheaper: "400 PRICE_IS_FIXED",
  server: "403 PUBLIC_KEY_FORBIDDEN",
  missing: "404 PRODUCT_NOT_FOUND",
  fake: ["PAID", "invoice.paid"],
  secret: "TypeError",
};

let packed: PackedClient;
let given: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  packed = packClient();
  // Packing kept this process busy for seconds. Meanwhile the server may have closed idle connections, which must be noticed before any of them
  // is used again.
  await sleep(100);
  cpSync("test/support/packed-story.mjs", join(packed.shop, "story.mjs"));
  const product = { name: unique("coffee"), price: 19.5 };
  const { id: productId } = expectOk(await shop.post<{ id: string }>("/products", product), 201);
  const { baseUrl, merchantId, secretKey, publicKey } = service;
  const closed = `http://127.0.0.1:${await findFreePort()}`;
  given = { baseUrl, merchantId, secretKey, publicKey, productId, closed, delivery: await deliveryOfPing() };
});

afterAll(() => packed && rmSync(packed.folder, { recursive: true }));

/** A webhook as a server on loopback received it. */
async function deliveryOfPing(): Promise<object> {
  const received = Promise.withResolvers<{ readonly payload: string; readonly headers: object }>();
  const server = createServer(async (request, response) => {
    const { host: _, ...headers } = request.headers;
    received.resolve({ payload: await text(request), headers });
    response.writeHead(204).end();
  });
  const { origin, close } = await listen(server);
  const endpoint = { url: `${origin}/hook`, events: ["invoice.reversed"] };
  const { id, secret } = expectOk(await shop.post<{ id: string; secret: string }>("/webhooks", endpoint), 201);
  try {
    await shop.post(`/webhooks/${id}/ping`);
    return { ...(await received.promise), secret };
  } finally {
    await shop.delete(`/webhooks/${id}`);
    await close();
  }
}

/** The tests' Node, and the system's, which the client must support. */
function nodes(): readonly (readonly [string, string])[] {
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const system = path.map((folder) => firstProgram(undefined, [join(folder, "node")])).find(Boolean);
  const own = `Node ${process.version}`;
  if (system === undefined) return [[`${own}, and this machine has no other`, process.execPath]];
  const version = execFileSync(system, ["--version"], { encoding: "utf8" }).trim();
  return [
    [`Node ${version} of the system`, system],
    [own, process.execPath],
  ];
}

describe("all methods of the packed client work against a real service", () => {
  it.each(nodes())("in %s", async (_, program) => {
    const run = `import { pageStory, serverStory } from "./story.mjs";
      const given = JSON.parse(process.argv[2]);
      console.log(JSON.stringify([await serverStory(given), await pageStory(given)]));`;
    const file = join(packed.shop, "run.mjs");
    writeFileSync(file, run);
    const story = JSON.stringify({ ...given, name: unique("node") });
    const { stdout } = await promisify(execFile)(program, [file, story], { cwd: packed.shop, encoding: "utf8" });
    expect(JSON.parse(stdout)).toEqual([SERVER_FACTS, PAGE_FACTS]);
  });

  it("in workerd", async () => {
    const entry = join(packed.shop, "worker.mjs");
    writeFileSync(
      entry,
      `import { pageStory, serverStory } from "./story.mjs";
      export default {
        async fetch(request) {
          const given = await request.json();
          return Response.json([await serverStory(given), await pageStory(given)]);
        },
      };`,
    );
    const conditions = ["workerd", "worker", "browser"];
    const how = { bundle: true, write: false, format: "esm", target: "es2022", conditions } as const;
    const { outputFiles } = await build({ entryPoints: [entry], ...how });
    const contents = outputFiles[0]?.text ?? "";
    const worker = {
      modules: [{ type: "ESModule" as const, path: "worker.js", contents }],
      modulesRoot: ".",
      compatibilityDate: "2026-01-01",
    };
    const runtime = new Miniflare(
      convertV4MiniflareOptions({ workers: [worker], host: "127.0.0.1", port: 0, cf: false }),
    );
    onTestFinished(() => runtime.dispose());
    const body = JSON.stringify({ ...given, name: unique("workerd") });
    const answer = await runtime.dispatchFetch("http://shop.example/", { method: "POST", body });
    expect(await answer.json()).toEqual([SERVER_FACTS, PAGE_FACTS]);
  });

  // Without a browser this test fails in CI and is skipped elsewhere, with instructions to install it.
  const inChromium = isBrowserWanted() ? it : it.skip;
  inChromium(
    `in Chromium, what a public key may${isBrowserWanted() ? "" : ` (${howToInstallChromium()})`}`,
    async () => {
      const site = await listen(shopSite());
      onTestFinished(site.close);
      const browser = await launchChromium();
      onTestFinished(() => browser.close());
      const page = await browser.newPage();
      const faults: string[] = [];
      page.on("pageerror", (error) => faults.push(String(error)));
      await page.goto(site.origin);
      const { secretKey: _, ...open } = given;
      const story = `import("/story.mjs").then(({ pageStory }) => pageStory(${JSON.stringify({ ...open, name: unique("page") })}))`;
      expect(await page.evaluate(story)).toEqual(PAGE_FACTS);
      expect(faults).toEqual([]);
    },
  );
});

/** The shop's own pages, without a build step, on an origin other than the service's. */
function shopSite() {
  const map = JSON.stringify({
    imports: Object.fromEntries([
      ["edgetill", "/node_modules/edgetill/dist/edgetill.js"],
      ["edgetill/testing", "/node_modules/edgetill/dist/testing.js"],
    ]),
  });
  const page = `<!doctype html><title>Shop</title><link rel="icon" href="data:,"><script type="importmap">${map}</script>`;
  return createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://shop").pathname;
    if (extname(path) === "") return void response.writeHead(200, { "content-type": "text/html" }).end(page);
    const type = { "content-type": "text/javascript" };
    response.writeHead(200, type).end(readFileSync(join(packed.shop, path)));
  });
}
