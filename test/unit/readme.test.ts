import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { examples } from "../../scripts/examples.ts";

const readme = readFileSync("README.md", "utf8");

it("the README has at most 200 lines, and shows `npm start` and `npm test` within the first 20", () => {
  const lines = readme.split("\n");
  expect(lines.length).toBeLessThanOrEqual(200);
  expect(lines.slice(0, 20).join("\n")).toMatch(/npm start.*npm test/s);
});

it("the integration that the README links to is as short as the README says", () => {
  expect(readme).toContain("[A complete integration](docs/examples/integration.ts) is 30 lines");
  expect(readFileSync("docs/examples/integration.ts", "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(30);
});

/** The contents of `.edgetill/demo.json` for a server on a port other than the default. */
const DEMO = {
  baseUrl: "http://localhost:9000",
  merchantId: "mer_1",
  ownerEmail: "owner@example.com",
  secretKey: "sk_1",
  publicKey: "pk_1",
};

it.each(["README.md", "docs/guides/README.md"])("the commands in %s reach the server on any PORT", (file) => {
  const [, first = ""] = /^```sh\n(.*?)^```$/ms.exec(readFileSync(file, "utf8")) ?? [];
  const folder = mkdtempSync(join(tmpdir(), "edgetill-readme-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, ".edgetill"));
  writeFileSync(join(folder, ".edgetill/demo.json"), JSON.stringify(DEMO));
  const printed = execFileSync("sh", ["-c", `${first}\necho "$BASE $KEY"`], { cwd: folder, encoding: "utf8" });
  expect(printed.trim()).toBe("http://localhost:9000/api/v1/merchants/merchant/mer_1 sk_1");
  const commands = [...readFileSync(file, "utf8").matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text).join();
  expect(commands).not.toContain("8787");
});

it("the commands that npm start prints go to the server that it started", () => {
  const origins = new Set(examples(DEMO).match(/http:\/\/localhost:\d+/g));
  expect([...origins]).toEqual([DEMO.baseUrl]);
});
