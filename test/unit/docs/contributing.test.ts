// CONTRIBUTING.md must list all generated files with their commands, and its commands must have flags that exist.
import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { parseFlags } from "../../../scripts/deploy/answers.ts";

const CONTRIBUTING = readFileSync("CONTRIBUTING.md", "utf8");
const { scripts }: { readonly scripts: object } = JSON.parse(readFileSync("package.json", "utf8"));
const [, section = ""] = CONTRIBUTING.split("\n## Generated files\n");
const rows = [...section.matchAll(/^\| [^|]+ \| `npm run ([\w:-]+)[^`]*`(?:, [^|]+)? \| ([^|]+) \|$/gm)].map(
  ([, script = "", writes = ""]) => ({
    script,
    writes: [...writes.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path),
  }),
);

describe("the table of generated files", () => {
  it("has every script that generates documents or files of the client", () => {
    const named = rows.map(({ script }) => script);
    const expected = Object.keys(scripts).filter((name) => /^(docs|client):/.test(name) || name.endsWith(":generate"));
    expect(expected.length).toBeGreaterThan(10);
    expect(expected.filter((name) => !named.includes(name))).toEqual([]);
  });

  it("has every committed file whose first line says that a command writes it", () => {
    const files = globSync(["{src,client,dashboard,docs,scripts}/**/*.{ts,md,txt,json}"], {
      exclude: (path) => /^(node_modules|dist|assets)$/.test(basename(path)),
    });
    const generated = files
      .map((path) => path.replaceAll("\\", "/"))
      .filter((path) => /^(<!--|\/\/|\/\*|#) ?(Written|Made|Generated) by /.test(readFileSync(path, "utf8")));
    expect(generated.length).toBeGreaterThan(10);
    const writes = rows.flatMap((row) => row.writes);
    expect(generated.filter((path) => !writes.some((each) => path === each || path.startsWith(each)))).toEqual([]);
  });
});

it("the commands for separate deployments have flags that `npm run deploy` accepts, and ask no questions", () => {
  const commands = [...CONTRIBUTING.matchAll(/^npm run deploy -- (.*)$/gm)].map(([, flags = ""]) => flags.split(" "));
  expect(commands).toHaveLength(2);
  for (const flags of commands) expect(parseFlags(flags)).toMatchObject({ ok: true, value: { isConfirmed: true } });
});
