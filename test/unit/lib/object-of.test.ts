import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { objectOf, parseLocationHint } from "../../../src/lib/object-of.ts";

/** A namespace that records how objects are opened, and returns a name for each. */
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

  it.each([undefined, "", " "])("may be %j, which means no hint", (text) => {
    expect(parseLocationHint(text)).toEqual({ ok: true, value: undefined });
  });

  it.each(["WEUR", "europe", "weur,enam", "constructor"])(
    "must not be %s, and the error does not contain the value",
    (text) => {
      const parsed = parseLocationHint(text);
      expect(parsed).toMatchObject({ ok: false, error: expect.stringContaining("LOCATION_HINT") });
      expect(parsed.ok || parsed.error.includes(text)).toBe(false);
    },
  );
});

describe("an object", () => {
  it("is opened with the deployment's hint", () => {
    const { getByName, opened } = recordingNamespace();
    expect(objectOf({ LOCATION_HINT: "weur" }, { getByName }, "a")).toBe("stub of a");
    expect(opened).toEqual([["a", { locationHint: "weur" }]]);
  });

  it.each(["", "mars"])("is opened without a hint if LOCATION_HINT is %j", (hint) => {
    const { getByName, opened } = recordingNamespace();
    expect(objectOf({ LOCATION_HINT: hint }, { getByName }, "a")).toBe("stub of a");
    expect(opened).toEqual([["a"]]);
  });

  it("gets a new stub each time it is opened", () => {
    const { getByName, opened } = recordingNamespace();
    for (const name of ["a", "a", "b"]) objectOf({ LOCATION_HINT: "me" }, { getByName }, name);
    expect(opened.map(([name]) => name)).toEqual(["a", "a", "b"]);
  });
});

it("only src/lib/object-of.ts opens objects, because an object created without the hint would stay in the wrong location", () => {
  const opens = /\.(getByName|idFromName|idFromString|newUniqueId)\b/;
  const files = globSync("src/**/*.{ts,tsx}").map((path) => path.replaceAll("\\", "/"));
  expect(files.filter((path) => opens.test(readFileSync(path, "utf8")))).toEqual(["src/lib/object-of.ts"]);
});
