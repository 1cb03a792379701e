import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { objectOf, parseLocationHint } from "../../../src/lib/object-of.ts";

/** Records how its objects are opened, and names them. */
function recordingNamespace() {
  const opened: (readonly unknown[])[] = [];
  const getByName = (...asked: readonly [string, ...unknown[]]) => {
    opened.push(asked);
    return `stub of ${asked[0]}`;
  };
  return { getByName, opened };
}

describe("LOCATION_HINT", () => {
  it.each(["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"])("may be %s", (name) => {
    expect(parseLocationHint(` ${name} `)).toEqual({ ok: true, value: name });
  });

  it.each([undefined, "", " "])("may be %j: then there is no hint", (text) => {
    expect(parseLocationHint(text)).toEqual({ ok: true, value: undefined });
  });

  it.each(["WEUR", "europe", "weur,enam", "constructor"])("must not be %s, and the reason does not show it", (text) => {
    const parsed = parseLocationHint(text);
    expect(parsed).toMatchObject({ ok: false, error: expect.stringContaining("LOCATION_HINT") });
    expect(parsed.ok || parsed.error.includes(text)).toBe(false);
  });
});

describe("an object", () => {
  it("is opened with the deployment's hint", () => {
    const { getByName, opened } = recordingNamespace();
    expect(objectOf({ LOCATION_HINT: "weur" }, { getByName }, "a")).toBe("stub of a");
    expect(opened).toEqual([["a", { locationHint: "weur" }]]);
  });

  it.each(["", "mars"])("is opened without one if LOCATION_HINT is %j", (hint) => {
    const { getByName, opened } = recordingNamespace();
    expect(objectOf({ LOCATION_HINT: hint }, { getByName }, "a")).toBe("stub of a");
    expect(opened).toEqual([["a"]]);
  });

  it("is a new stub each time", () => {
    const { getByName, opened } = recordingNamespace();
    for (const name of ["a", "a", "b"]) objectOf({ LOCATION_HINT: "me" }, { getByName }, name);
    expect(opened.map(([name]) => name)).toEqual(["a", "a", "b"]);
  });
});

it("no other file of src opens an object, because without the hint it would be created elsewhere forever", () => {
  const opens = /\.(getByName|idFromName|idFromString|newUniqueId)\b/;
  const files = globSync("src/**/*.{ts,tsx}").map((path) => path.replaceAll("\\", "/"));
  expect(files.filter((path) => opens.test(readFileSync(path, "utf8")))).toEqual(["src/lib/object-of.ts"]);
});
