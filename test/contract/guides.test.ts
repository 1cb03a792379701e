// What the guides tell a reader to paste is pasted here, guide by guide, into one shell each, and the answers beside it are compared.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFreePort } from "../../scripts/free-port.ts";
import { expectOk, service, shop } from "./client.ts";
import { signedIn } from "./people.ts";

const FOLDER = "docs/guides";
const INDEX = "README.md";
const GUIDES = readdirSync(FOLDER).filter((name) => name.endsWith(".md") && name !== INDEX);
/** Users of their own for each run. */
const RUN = `g${Date.now()}`;
/** Stands on a line of its own behind the output of each block. */
const END = "=== end of block ===";

interface Block {
  readonly commands: string;
  /** The answer that the guide shows behind the commands: of the last of them, if they have several. */
  readonly shown: { readonly language: string; readonly text: string } | undefined;
}

/** The blocks of a guide in their order. */
function blocksOf(name: string): readonly Block[] {
  const fences = [...readFileSync(join(FOLDER, name), "utf8").matchAll(/^```(\w*)\n(.*?)^```$/gms)];
  const parts = fences.map(([, language = "", text = ""]) => ({ language, text }));
  return parts.flatMap(({ language, text }, at) => {
    const next = parts[at + 1];
    const shown = next?.language === "json" || next?.language === "text" ? next : undefined;
    return language === "sh" ? [{ commands: text, shown }] : [];
  });
}

/** What a command printed as JSON values, one behind the other without anything between. */
function valuesIn(output: string): readonly unknown[] {
  return output
    .split(/(?<=[}\]])\n?(?=[{[])/)
    .filter((text) => text.trim() !== "")
    .map((text): unknown => JSON.parse(text));
}

/** A shown answer as what to match: `, …` leaves members out, `…` in a text is any text. */
function patternOf(shown: string): unknown {
  return JSON.parse(shown.replace(/,\s*…/g, ""), (_, value: unknown) =>
    typeof value === "string" && value.includes("…") ? expect.stringMatching(wholeText(value)) : value,
  );
}

function wholeText(shown: string): RegExp {
  const parts = shown.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s");
}

/** A merchant as a fresh `npm start` has it: a secret key with all permissions, a public key, no wallets. Writes its `demo.json`. */
async function freshMerchant(home: string): Promise<void> {
  const owner = await signedIn("guides");
  const { body: merchant } = await owner.post("/api/v1/merchants", { name: "Demo shop" });
  const keys = expectOk(await shop.get<{ data: { kind: string; permissions: string[] }[] }>("/api-keys"), 200).data;
  const secretOf = async (kind: string) => {
    const permissions = keys.find((key) => key.kind === kind)?.permissions;
    const path = `/api/v1/merchants/merchant/${merchant.id}/api-keys`;
    const { status, body } = await owner.post(path, { name: "Demo key", kind, permissions });
    expect(status).toBe(201);
    return body.secret;
  };
  const demo = {
    baseUrl: service.baseUrl,
    merchantId: merchant.id,
    secretKey: await secretOf("SECRET"),
    publicKey: await secretOf("PUBLIC"),
  };
  writeFileSync(join(home, "demo.json"), JSON.stringify(demo));
}

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

describe.skipIf(!hasCurl)("the commands of a guide print what it shows", () => {
  let home: string;
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), "edgetill-guides-"));
  });
  afterAll(() => rmSync(home, { recursive: true }));

  test.each(GUIDES)("%s", async (guide) => {
    await freshMerchant(home);
    const port = await findFreePort();
    const here = (text: string) =>
      text
        .replaceAll("http://localhost:8787", service.baseUrl)
        .replaceAll("./.edgetill/", ".edgetill/")
        .replaceAll(".edgetill/", `${home}/`)
        .replaceAll(":4242", `:${port}`)
        .replaceAll("@example.com", `@${RUN}.example`);
    const blocks = [...blocksOf(INDEX), ...blocksOf(guide)];
    const script = blocks.map(({ commands }) => `${here(commands)}\nprintf '\\n${END}\\n'\n`).join("");
    const run = spawnSync("sh", ["-c", `set -e\n${script}`], {
      encoding: "utf8",
      timeout: 60_000,
      env: { ...process.env, PORT: String(port), RECEIVER_STATE: join(home, "receiver.ids") },
    });
    const outputs = run.stdout.split(`\n${END}\n`).slice(0, -1);
    for (const [at, output] of outputs.entries()) check(blocks[at], output, here);
    expect(run.status, run.stderr).toBe(0);
    expect(outputs).toHaveLength(blocks.length);
  });
});

function check(block: Block | undefined, output: string, here: (text: string) => string): void {
  const { commands, shown } = block ?? { commands: "", shown: undefined };
  const told = `${commands}\n${output}`;
  if (shown?.language === "text") {
    expect(output.trim(), told).toMatch(wholeText(here(shown.text).trim()));
    return;
  }
  const values = valuesIn(output);
  const last = shown === undefined ? undefined : values.at(-1);
  if (shown !== undefined) expect(last, told).toMatchObject(patternOf(here(shown.text)) as object);
  // What is not shown went well.
  for (const value of values) if (value !== last) expect(value, told).not.toHaveProperty("statusCode");
}
