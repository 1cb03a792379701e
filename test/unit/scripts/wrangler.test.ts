import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { COMPATIBILITY_FLAGS } from "../../../scripts/wrangler.ts";

test("the development server has the flags of a deployment, and one more", () => {
  const [, list = ""] = /^compatibility_flags = (\[.*\])$/m.exec(readFileSync("wrangler.toml", "utf8")) ?? [];
  const deployed: string[] = JSON.parse(list);
  expect([...COMPATIBILITY_FLAGS]).toEqual([...deployed, "queue_consumer_no_wait_for_wait_until"]);
});
