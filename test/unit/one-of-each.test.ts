import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const SRC = join(import.meta.dirname, "../../src");
const sources = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => /\.tsx?$/.test(path) && !path.endsWith(".generated.ts") && !path.includes("/browser"))
  .map((path) => [path, readFileSync(join(SRC, path), "utf8")] as const);

it.each([
  ["sends a batch", /\.batch\(/, ["platform/db/batch.ts"]],
  ["names a private member of drizzle", /\b_prepare\b|\bBatchItem\b/, []],
  ["opens a Durable Object", /\.(getByName|idFromName|idFromString|newUniqueId)\(/, ["lib/object-of.ts"]],
  ["reads a body chunk by chunk", /\.getReader\(|for await \(const \w+ of [\w.]*body\b/, ["lib/read-bytes.ts"]],
  // Types of the environment say that it exists.
  ["names the binding of the database", /\bDB\b/, ["app/env.d.ts", "platform/db/databases.ts"]],
  // The deployer chooses them: a Worker that compares with one of wrangler.toml works under that name alone.
  ["names a queue", /["'`]edgetill-[a-z]+["'`]/, []],
  ["writes to the console", /\bconsole\.\w+\(/, ["lib/log.ts", "rates/rate-book.ts", "rates/rate-source.ts"]],
] as const)("no file %s, except for those made for it", (_, pattern, files) => {
  expect(sources.length).toBeGreaterThan(500);
  expect(sources.filter(([, text]) => pattern.test(text)).map(([path]) => path)).toEqual(
    expect.arrayContaining([...files]),
  );
  const elsewhere = sources.filter(([path, text]) => pattern.test(text) && !files.some((file) => file === path));
  expect(elsewhere.map(([path]) => path)).toEqual([]);
});
