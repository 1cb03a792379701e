import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { prepareDemo } from "../../../scripts/demo.ts";
import { apiKeyMacKeys, type Home, openHome } from "../../../scripts/home.ts";
import { StartError } from "../../../scripts/settings.ts";
import { apiKeyKind, apiKeyStanding } from "../../../src/accounts/auth/api-key.ts";

const NOW_MS = Date.UTC(2026, 10, 21);
let folder: string;
let opened: Home[];

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "edgetill-home-")), "home");
  opened = [];
});
afterEach(() => {
  for (const home of opened) home.release();
  rmSync(join(folder, ".."), { recursive: true });
});

function open(): Home {
  const home = openHome(folder);
  opened.push(home);
  return home;
}
function reopen(): Home {
  for (const home of opened) home.release();
  return open();
}
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe("the home of a development server", () => {
  test("has one secret, made of a key id and 32 random bytes, generated once and kept", () => {
    const first = readFileSync(open().secretsFile, "utf8");
    const secrets = [...first.matchAll(/^(\w+)=([^:]+):(.+)$/gm)].map(([, name, id, key = ""]) => [name, id, key]);
    expect(secrets.map(([name, id, key = ""]) => [name, id, Buffer.from(key, "base64").length])).toEqual([
      ["MASTER_KEY", "dev1", 32],
    ]);
    expect(readFileSync(reopen().secretsFile, "utf8")).toBe(first);
  });

  test("that was created before MASTER_KEY existed keeps its keyrings, and gets a MASTER_KEY for the missing ones", () => {
    const { secretsFile } = open();
    writeFileSync(secretsFile, "OTHER_KEY=x:y\nCODE_PEPPER=mine\n");
    expect(readFileSync(reopen().secretsFile, "utf8")).toMatch(
      /^OTHER_KEY=x:y\nCODE_PEPPER=mine\nMASTER_KEY=dev1:.{44}\n$/,
    );
  });

  test("can be read only by its owner, like the secret files in it", () => {
    const home = open();
    prepareDemo(home, "http://localhost:1", NOW_MS);
    expect([folder, home.secretsFile, home.demoFile, home.seedFile].map(modeOf)).toEqual(["700", "600", "600", "600"]);
  });

  test("cannot be used by a second server until the first one releases it", () => {
    open();
    expect(() => openHome(folder)).toThrow(StartError);
    expect(() => reopen()).not.toThrow();
  });
});

describe("prepareDemo", () => {
  test("writes a demo.json with the address, the merchant and a valid key of each kind", () => {
    const home = open();
    const { demo, isNew } = prepareDemo(home, "http://localhost:1", NOW_MS);
    expect(JSON.parse(readFileSync(home.demoFile, "utf8"))).toEqual(demo);
    expect(Object.keys(demo)).toEqual(["merchantId", "secretKey", "publicKey", "baseUrl", "ownerEmail"]);
    expect([isNew, apiKeyKind(demo.secretKey), apiKeyKind(demo.publicKey)]).toEqual([true, "SECRET", "PUBLIC"]);
    const { merchantId, secretKey, publicKey } = demo;
    const macKeys = apiKeyMacKeys(home);
    for (const apiKey of [secretKey, publicKey])
      expect(apiKeyStanding({ macKeys, apiKey, merchantId })).toBe("GENUINE");
  });

  test("stops if a key secret is unusable, with an error that names the file and not the value", () => {
    const home = open();
    writeFileSync(home.secretsFile, "API_KEY_MAC_KEY=hunter2\n");
    const start = () => prepareDemo(home, "http://localhost:1", NOW_MS);
    expect(start).toThrow(StartError);
    expect(start).toThrow(`Correct or remove its line in ${home.secretsFile}`);
    expect(start).not.toThrow("hunter2");
  });

  test("keeps the merchant, the keys and the rows at a second start, and changes only the address, to the new port", () => {
    const first = open();
    const before = prepareDemo(first, "http://localhost:1", NOW_MS);
    const seed = readFileSync(first.seedFile, "utf8");
    const second = reopen();
    expect(prepareDemo(second, "http://localhost:2", NOW_MS + 1)).toEqual({
      demo: { ...before.demo, baseUrl: "http://localhost:2" },
      isNew: false,
    });
    expect(readFileSync(second.seedFile, "utf8")).toBe(seed);
  });

  test("keeps a demo merchant that was created before accounts existed, and gives it an owner once", () => {
    const home = open();
    const { demo } = prepareDemo(home, "http://localhost:1", NOW_MS);
    const { ownerEmail, ...old } = demo;
    writeFileSync(home.demoFile, JSON.stringify(old));
    writeFileSync(home.seedFile, "-- older rows\n");
    expect(prepareDemo(home, "http://localhost:1", NOW_MS)).toEqual({ demo, isNew: false });
    const seed = readFileSync(home.seedFile, "utf8");
    expect(seed).toMatch(/^-- older rows\ninsert into "users".*insert into "members"/s);
    expect(seed).toContain(ownerEmail);
    prepareDemo(home, "http://localhost:1", NOW_MS);
    expect(readFileSync(home.seedFile, "utf8")).toBe(seed);
  });

  test("makes new keys if the rows of the old keys were never written", () => {
    const home = open();
    const { demo } = prepareDemo(home, "http://localhost:1", NOW_MS);
    rmSync(home.seedFile);
    const again = prepareDemo(home, "http://localhost:1", NOW_MS);
    expect(again.isNew).toBe(true);
    expect(again.demo.secretKey).not.toBe(demo.secretKey);
    expect(existsSync(home.seedFile)).toBe(true);
  });

  test("throws for a damaged demo.json, with advice", () => {
    const home = open();
    prepareDemo(home, "http://localhost:1", NOW_MS);
    writeFileSync(home.demoFile, "{");
    expect(() => prepareDemo(home, "http://localhost:1", NOW_MS)).toThrow(/Delete it to get a new demo merchant/);
  });

  test("writes the keys' secrets to demo.json only", () => {
    const home = open();
    const { demo } = prepareDemo(home, "http://localhost:1", NOW_MS);
    const seed = readFileSync(home.seedFile, "utf8");
    expect(seed).not.toContain(demo.secretKey);
    expect(seed).not.toContain(demo.publicKey);
  });
});
