// What a shop installs: plain JavaScript and types, without our sources, our packages or a build step.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";

const shop = mkdtempSync(join(tmpdir(), "edgetill-shop-"));
const installed = join(shop, "node_modules/edgetill");

beforeAll(() => {
  mkdirSync(installed, { recursive: true });
  execFileSync("client/node_modules/.bin/tsc", ["--project", "client", "--outDir", join(installed, "dist")]);
  cpSync("client/package.json", join(installed, "package.json"));
  // Types of fetch, AbortSignal and URL, of which every runtime has its own.
  symlinkSync(join(process.cwd(), "node_modules/@types"), join(shop, "node_modules/@types"));
  writeFileSync(join(shop, "package.json"), '{ "type": "module" }');
});

afterAll(() => rmSync(shop, { recursive: true }));

function run(command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { cwd: shop, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

it("the package can be imported by plain JavaScript", () => {
  const code = 'import * as client from "edgetill"; console.log(Object.keys(client).sort().join())';
  writeFileSync(join(shop, "use.mjs"), code);
  expect(run(process.execPath, "use.mjs").trim()).toBe(
    "Edgetill,EdgetillConnectionError,EdgetillError,EdgetillTimeoutError,ReturnVerificationError,WebhookVerificationError,verifyReturn,verifyWebhook",
  );
});

it.each([
  ["nodenext", "nodenext"],
  ["esnext", "bundler"],
])(
  "the package has types for TypeScript with module %s and moduleResolution %s",
  { timeout: 30_000 },
  (module, moduleResolution) => {
    writeFileSync(
      join(shop, "use.ts"),
      `import { Edgetill, type Invoice, type InvoiceStatus, verifyWebhook, type WebhookEvent } from "edgetill";
    const edgetill = new Edgetill({ baseUrl: "https://pay.example.com", apiKey: "sk_1", merchantId: "mer_1" });
    export const made: Promise<Invoice> = edgetill.invoices.create({ name: "Order", rawAmount: 10 });
    void edgetill.invoices.create({ productId: "prd_1" });
    // @ts-expect-error A name without an amount.
    void edgetill.invoices.create({ name: "Order" });
    // @ts-expect-error No status.
    void edgetill.invoices.list({ status: "PIAD" });
    for await (const invoice of edgetill.invoices.list({ status: "PAID" })) invoice.checkoutUrl satisfies string;
    export const page = (await edgetill.invoices.list({ page: 1 })).pagination?.total satisfies number | undefined;
    export const event: WebhookEvent = await verifyWebhook({ payload: "", headers: new Headers(), secret: "" });
    export const status: InvoiceStatus = "PAID";
    // @ts-expect-error No status.
    export const other: InvoiceStatus = "PIAD";
    if (event.type === "invoice.paid") event.data.invoice.amountReceived satisfies string;`,
    );
    const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--ignoreConfig", "--types", "node"];
    const how = ["--target", "es2022", "--module", module, "--moduleResolution", moduleResolution];
    expect(run(join(process.cwd(), "node_modules/.bin/tsc"), ...options, ...how, "use.ts")).toBe("");
  },
);

it("the package imports only its own files", () => {
  const built = readFileSync(join(installed, "dist/edgetill.js"), "utf8");
  const sources = [...built.matchAll(/from "([^"]+)"/g)].map(([, name]) => name);
  expect(sources.length).toBeGreaterThan(3);
  expect(sources.filter((name) => !/^\.\/[\w-]+\.js$/.test(name ?? ""))).toEqual([]);
});

it("the package has the version of the service and no dependencies", () => {
  const [client, service] = ["client/package.json", "package.json"].map((file) =>
    JSON.parse(readFileSync(file, "utf8")),
  );
  expect(client.version).toBe(service.version);
  expect(client).not.toHaveProperty("dependencies");
});
