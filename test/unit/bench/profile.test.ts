// A profile's tables guide optimization, so a sample must count for its own function, file and area.
import { expect, test } from "vitest";
import { ELSEWHERE, type Profile, selfTimes } from "../../../bench/profile/self-times.ts";

const CODE = [
  "// src/platform/db/groups.ts",
  "function send() {}",
  "// node_modules/hono/dist/hono.js",
  "match();",
].join("\n");
const SOURCE_MAP = JSON.stringify({ version: 3, sources: [], names: [], mappings: "" });

const node = (id: number, functionName: string, url: string, lineNumber: number, children: number[] = []) => ({
  id,
  callFrame: { functionName, url, lineNumber, columnNumber: 0 },
  children,
});
const NODES = [
  node(1, "(root)", "", -1, [2, 3, 6]),
  node(2, "match", "file:///worker.js", 3),
  node(3, "send", "file:///worker.js", 1, [4, 5]),
  node(4, "setTimeout", "", -1),
  node(5, "toJson", "cloudflare-internal:d1-api", 615),
  node(6, "(idle)", "", -1),
];

function timesOf(samples: readonly number[], timeDeltas: readonly number[]) {
  const profile: Profile = { nodes: NODES, samples, timeDeltas };
  return selfTimes(profile, { code: CODE, sourceMap: SOURCE_MAP });
}

test("native work counts towards the file and area of the function that calls it", () => {
  const { byArea, byFile, byFunction } = timesOf([2, 3, 4, 5, 6], [100, 100, 100, 100, 100]);
  expect(Object.fromEntries(byArea)).toEqual({
    router: 100,
    groups: 200,
    "json of D1's answers": 100,
    "(idle)": 100,
    [ELSEWHERE]: 0,
  });
  expect(byFile.get("src/platform/db/groups.ts")).toBe(200);
  expect(byFunction.get("setTimeout called by send src/platform/db/groups.ts")).toBe(100);
});

test("a late sample counts for at most two intervals; the rest of the delay is reported as (elsewhere)", () => {
  const { byArea } = timesOf([2, 2, 3], [100, 100, 5_000]);
  expect(byArea.get("groups")).toBe(200);
  expect(byArea.get(ELSEWHERE)).toBe(4_800);
});
