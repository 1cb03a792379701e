// What a shop installs must be plain JavaScript and types, and must not need our sources, other packages or a build step.
import { execFileSync, spawnSync } from "node:child_process";
import { globSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PackedClient, packClient } from "../../support/packed-client.ts";

let packed: PackedClient;
let installed: string;
const manifest = JSON.parse(readFileSync("client/package.json", "utf8"));

beforeAll(() => {
  packed = packClient();
  installed = join(packed.shop, "node_modules/edgetill");
  // These packages declare fetch, AbortSignal and URL, which every runtime provides.
  for (const name of ["@types", "@cloudflare"])
    symlinkSync(resolve("node_modules", name), join(packed.shop, "node_modules", name));
});

afterAll(() => rmSync(packed.folder, { recursive: true }));

function run(command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { cwd: packed.shop, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** A command's output, even if it fails. */
function printed(command: string): string {
  const { stdout, stderr } = spawnSync(command, [], { cwd: packed.shop, encoding: "utf8" });
  return stdout + stderr;
}

type Entry = string | { readonly [condition: string]: Entry };

/** The files to which an export can resolve, in order, each with its conditions. */
function targetsOf(entry: Entry, under = ""): readonly (readonly [string, string])[] {
  if (typeof entry === "string") return [[under, entry]];
  return Object.entries(entry).flatMap(([name, each]) => targetsOf(each, `${under} ${name}`.trim()));
}

describe("the packed client", () => {
  it("consists of the built files, their package.json files, the README and the license", () => {
    const others = packed.files.filter((file) => !/^dist\/[\w/-]+\.(js|d\.ts)$/.test(file));
    expect(others).toEqual(["LICENSE", "README.md", "dist/cjs/package.json", "package.json"]);
    const sources = packed.files.flatMap((file) => /^dist\/(?!cjs\/)(.+)\.js$/.exec(file)?.[1] ?? []);
    for (const name of sources) {
      const built = [`dist/${name}.d.ts`, `dist/cjs/${name}.js`, `dist/cjs/${name}.d.ts`];
      expect(packed.files).toEqual(expect.arrayContaining(built));
      expect(readFileSync(`client/${name}.ts`, "utf8")).not.toBe("");
    }
  });

  it("has the service's license", () => {
    expect(readFileSync(join(installed, "LICENSE"), "utf8")).toBe(readFileSync("LICENSE", "utf8"));
  });

  it("has a file for every condition of every export, types before code", () => {
    const wanted = Object.values<Entry>(manifest.exports).flatMap((entry) => {
      const targets = targetsOf(entry);
      // This condition selects the sources in this repository only, because no runtime or compiler sets it by default.
      const published = targets.filter(([condition]) => condition !== "edgetill-source");
      if (typeof entry !== "string")
        expect(published.map(([condition]) => condition)).toEqual([
          "require types",
          "require default",
          "types",
          "default",
        ]);
      return published.map(([, target]) => target.replace(/^\.\//, ""));
    });
    expect(wanted.length).toBeGreaterThan(2);
    expect(packed.files).toEqual(expect.arrayContaining(wanted));
  });

  it("has the service's version, no dependencies and no side effects", () => {
    const service = JSON.parse(readFileSync("package.json", "utf8"));
    expect(manifest).toMatchObject({ version: service.version, sideEffects: false, license: service.license });
    for (const kind of ["dependencies", "peerDependencies", "optionalDependencies"])
      expect(manifest).not.toHaveProperty(kind);
    const names = readdirSync(join(packed.shop, "node_modules")).filter((name) => !/^[.@]/.test(name));
    expect(names).toEqual(["edgetill"]);
  });

  it("imports only its own files", () => {
    const built = packed.files.filter((file) => file.endsWith(".js") && !file.startsWith("dist/cjs/"));
    const sources = built.flatMap((file) =>
      [...readFileSync(join(installed, file), "utf8").matchAll(/^(?:import|export)\b[^;]*?from "([^"]+)"/gm)].map(
        ([, name]) => name,
      ),
    );
    expect(sources.length).toBeGreaterThan(10);
    expect(sources.filter((name) => !/^\.\.?\/[\w/-]+\.js$/.test(name ?? ""))).toEqual([]);
  });

  it("has type files that import only files of the package", () => {
    const types = packed.files.filter((file) => file.endsWith(".d.ts"));
    const wanted = types.flatMap((file) =>
      [...readFileSync(join(installed, file), "utf8").matchAll(/(?:from |import\()"([^"]+)"/g)].map(([, name = ""]) =>
        join(dirname(file), name.replace(/\.(?:js|ts)$/, ".d.ts")),
      ),
    );
    expect(wanted.length).toBeGreaterThan(20);
    expect(wanted.filter((file) => !packed.files.includes(file))).toEqual([]);
  });

  it("contains the service's code only in the testing entry, with the licenses of the bundled packages", () => {
    const sources = globSync("client/*.ts", { exclude: ["client/testing.ts"] });
    const outside = sources.filter((file) => /(?:from |import\()"(?!\.\/)/.test(readFileSync(file, "utf8")));
    expect(outside).toEqual([]);
    const bundled = packed.files.filter((file) =>
      /^\/\/ .*src\/lib\/money/m.test(readFileSync(join(installed, file), "utf8")),
    );
    expect(bundled).toEqual(["dist/cjs/testing.js", "dist/testing.js"]);
    for (const file of bundled) {
      const text = readFileSync(join(installed, file), "utf8");
      const names = [...text.matchAll(/^\/\/ .*node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)].map(([, name]) => name);
      expect(names.length).toBeGreaterThan(0);
      for (const name of names) expect(text.split("/*!").at(-1), name).toMatch(new RegExp(`^${name} \\d+\\.`, "m"));
    }
  });

  it("can be imported by plain JavaScript", () => {
    writeFileSync(
      join(packed.shop, "use.mjs"),
      'import * as client from "edgetill"; console.log(Object.keys(client).sort().join())',
    );
    expect(run(process.execPath, "use.mjs").trim()).toBe(
      "Edgetill,EdgetillConnectionError,EdgetillError,EdgetillPublic,EdgetillTimeoutError,ReturnVerificationError,WebhookVerificationError,verifyReturn,verifyWebhook",
    );
    const testing = 'import * as testing from "edgetill/testing"; console.log(Object.keys(testing).join())';
    writeFileSync(join(packed.shop, "use.mjs"), testing);
    expect(run(process.execPath, "use.mjs").trim()).toBe("FakeEdgetill");
  });

  it("can be required by a CommonJS program, even in a Node version that cannot require modules", () => {
    const program = `const { Edgetill, EdgetillError } = require("edgetill");
      const { FakeEdgetill } = require("edgetill/testing");
      const fake = new Edgetill(new FakeEdgetill().options);
      fake.invoices.get("inv_1").catch((error) => console.log(error instanceof EdgetillError, error.code));`;
    writeFileSync(join(packed.shop, "use.cjs"), program);
    expect(run(process.execPath, "--no-experimental-require-module", "use.cjs").trim()).toBe("true INVOICE_NOT_FOUND");
  });
});

const PROGRAM = `import { FakeEdgetill } from "edgetill/testing";
  export const fake = new Edgetill(new FakeEdgetill({ wallets: [{ cryptocurrency: "BTC", network: "BTC" }] }).options);
  import { Edgetill, EdgetillError, EdgetillPublic, type Invoice, type InvoiceStatus } from "edgetill";
  import { type PublicInvoice, verifyReturn, verifyWebhook, type WebhookEvent } from "edgetill";
  const at = { baseUrl: "https://pay.example.com", merchantId: "mer_1" };
  const edgetill = new Edgetill({ ...at, apiKey: "sk_1" });
  export const made: Promise<Invoice> = edgetill.invoices.create({ name: "Order", rawAmount: 10 });
  void edgetill.invoices.create({ productId: "prd_1" });
  // @ts-expect-error A name without an amount.
  void edgetill.invoices.create({ name: "Order" });
  // @ts-expect-error Not a status.
  void edgetill.invoices.list({ status: "PIAD" });
  for await (const invoice of edgetill.invoices.list({ status: "PAID" })) invoice.checkoutUrl satisfies string;
  export const page = (await edgetill.invoices.list({ page: 1 })).pagination?.total satisfies number | undefined;
  export const event: WebhookEvent = await verifyWebhook({ payload: "", headers: new Headers(), secret: "" });
  export const status: InvoiceStatus = "PAID";
  // @ts-expect-error Not a status.
  export const other: InvoiceStatus = "PIAD";
  if (event.type === "invoice.paid") event.data.invoice.amountReceived satisfies string;
  export const back = await verifyReturn({ url: new URL("https://shop.example/"), baseUrl: at.baseUrl });
  try { await made; } catch (error) {
    if (error instanceof EdgetillError && error.code === "LIMIT_REACHED") error.facts.limit satisfies number;
  }
  const shop = new EdgetillPublic({ ...at, apiKey: "pk_1" });
  export const sold: Promise<PublicInvoice> = shop.invoices.create({ productId: "prd_1" });
  // @ts-expect-error A page cannot set externalId.
  void shop.invoices.create({ productId: "prd_1", externalId: "1" });
  // @ts-expect-error A page cannot cancel an invoice.
  void shop.invoices.cancel("inv_1");`;

/** A CommonJS program, because of its file name; so `node16` needs CommonJS types. */
const OLDER_PROGRAM = `import edgetill = require("edgetill");
  import { FakeEdgetill } from "edgetill/testing";
  const client = new edgetill.Edgetill(new FakeEdgetill().options);
  export const made: Promise<edgetill.Invoice> = client.invoices.create({ name: "Order", rawAmount: 10 });
  // @ts-expect-error A name without an amount.
  void client.invoices.create({ name: "Order" });`;

describe("the types of the packed client", () => {
  const compilers = [["node_modules/.bin/tsc"], ["client/node_modules/.bin/tsc"]] as const;
  const resolutions = [
    ["node16", "node16"],
    ["esnext", "bundler"],
  ] as const;
  const runtimes = [
    ["Node", { lib: ["es2023"], types: ["node"] }],
    ["Workers", { lib: ["es2023"], types: ["@cloudflare/workers-types"] }],
    ["browsers", { lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"], types: [] }],
  ] as const;
  const cases = compilers.flatMap(([compiler]) =>
    resolutions.flatMap(([module, resolution]) =>
      runtimes.map(([runtime, types]) => ({ compiler, module, resolution, runtime, types })),
    ),
  );

  it.each(compilers)("work for a CommonJS program with resolution node16, with %s", (compiler) => {
    writeFileSync(join(packed.shop, "use.cts"), OLDER_PROGRAM);
    const strict = { noEmit: true, strict: true, exactOptionalPropertyTypes: true, target: "es2022" };
    const compilerOptions = {
      ...strict,
      module: "node16",
      moduleResolution: "node16",
      lib: ["es2023"],
      types: ["node"],
    };
    writeFileSync(join(packed.shop, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["use.cts"] }));
    expect(printed(resolve(compiler))).toBe("");
  });

  it.each(cases)("work for $runtime with module $module and resolution $resolution, with $compiler", (of) => {
    writeFileSync(join(packed.shop, "use.ts"), PROGRAM);
    const strict = { noEmit: true, strict: true, exactOptionalPropertyTypes: true, target: "es2022" };
    const compilerOptions = { ...strict, module: of.module, moduleResolution: of.resolution, ...of.types };
    writeFileSync(join(packed.shop, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["use.ts"] }));
    expect(printed(resolve(of.compiler))).toBe("");
  });
});
