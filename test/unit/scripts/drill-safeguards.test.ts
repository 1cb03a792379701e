// The safeguards that the drill removes must still exist: each edit names a line of the current sources.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAst } from "vitest/node";
import { isSafeguard, SAFEGUARDS } from "../../../scripts/drill/safeguards.ts";
import { type Edit, edited, editedTexts } from "../../../scripts/edits.ts";

const EDIT: Edit = { file: "a.ts", from: "guard();", to: "" };

describe("a safeguard that the drill removes", () => {
  it.each(Object.entries(SAFEGUARDS))(
    "(%s) is in lines that occur exactly once in the sources, and the edited files parse",
    (_, edits) => {
      for (const [file, text] of editedTexts("src", edits)) {
        expect(text).not.toBe(readFileSync(join("src", file), "utf8"));
        expect(() => parseAst(text, { lang: "ts" })).not.toThrow();
      }
    },
  );

  it("whose line is missing or occurs twice is reported", () => {
    expect(edited("a(); guard(); b();", EDIT)).toBe("a();  b();");
    expect(() => edited("a(); b();", EDIT)).toThrow("a.ts does not say once: guard();");
    expect(() => edited("guard(); guard();", EDIT)).toThrow("a.ts does not say once: guard();");
  });

  it("has one of the names that the command accepts", () => {
    expect(Object.keys(SAFEGUARDS).every(isSafeguard)).toBe(true);
    expect([undefined, "", "toString", "cursors"].some(isSafeguard)).toBe(false);
  });
});
