// Each section of the incidents page must answer three questions, and name an existing rehearsal.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../../..");
const page = readFileSync(join(ROOT, "docs/operations/incidents.md"), "utf8");
const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(ROOT, "package.json"), "utf8"),
);
const sections = page.split(/^## /m).slice(1);

describe("the incidents page", () => {
  it("has a section for each known incident", () => {
    expect(sections.map((text) => text.split("\n")[0])).toEqual(
      expect.arrayContaining([
        "A source lags",
        "A source lies",
        "D1 does not answer",
        "A full database",
        "A secret key (`sk_`) leaked",
        "A public key (`pk_`) leaked",
        "`MASTER_KEY` leaked",
        "A webhook secret leaked",
        "A Cloudflare token leaked",
        "An owner's session or mailbox was taken",
        "An extended public key leaked",
        "A bad release",
        "A merchant under attack",
      ]),
    );
  });

  it.each(sections.map((text) => [text.split("\n")[0], text] as const))(
    "says for %s how to recognise it, what to do, when it is over, and where it was rehearsed",
    (_, text) => {
      for (const part of ["**What shows it.**", "**What to do.**", "**It is over when**", "**Played by**"])
        expect(text).toContain(part);
      const [, played = ""] = text.split("**Played by**");
      const names = [...played.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
      expect(names.length).toBeGreaterThan(0);
      for (const name of names) {
        const [, script] = /^npm run ([\w:-]+)$/.exec(name) ?? [];
        if (script === undefined) expect([name, existsSync(join(ROOT, name))]).toEqual([name, true]);
        else expect([script, scripts[script] !== undefined]).toEqual([script, true]);
      }
    },
  );

  it("names commands that exist", () => {
    const commands = [...page.matchAll(/npm run ([\w:-]+)/g)].map(([, script = ""]) => script);
    expect(commands.length).toBeGreaterThan(3);
    expect(commands.filter((script) => scripts[script] === undefined)).toEqual([]);
  });
});
