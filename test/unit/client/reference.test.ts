// docs/client matches the client's types.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

it("the reference is what `npm run client:docs` writes, and documents every export", () => {
  const { stderr, status } = spawnSync(process.execPath, ["scripts/write-client-reference.ts", "--check"], {
    encoding: "utf8",
  });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
});

it("the reference lists the client's methods and says what each of them does", () => {
  const page = readFileSync("docs/client/edgetill.md", "utf8");
  const methods = [...page.matchAll(/^- `([\w.]+)\(.*\)`: (\S.*)$/gm)].map(([, name]) => name);
  expect(methods).toEqual(
    expect.arrayContaining(["invoices.create", "payments.resolve", "events.poll", "reports.payments"]),
  );
  expect(methods.length).toBeGreaterThan(60);
  expect(page).toContain("## ReturnVerificationError");
});

it("every file that the client's pages link to exists", () => {
  for (const page of ["client/README.md", ...globSync("docs/client/*.md")]) {
    const links = [...readFileSync(page, "utf8").matchAll(/\]\(([\w./-]+)(?:#[\w-]+)?\)/g)].map(
      ([, path = ""]) => path,
    );
    expect(links.filter((path) => !existsSync(join(dirname(page), path)))).toEqual([]);
  }
});
