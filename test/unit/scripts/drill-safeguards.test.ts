// What the drill removes still exists: each edit names a line of the current sources.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAst } from "vitest/node";
import { isSafeguard, SAFEGUARDS } from "../../../scripts/drill/safeguards.ts";
import { type Edit, edited, editedTexts } from "../../../scripts/edits.ts";

const EDIT: Edit = { file: "a.ts", from: "guard();", to: "" };

describe("a safeguard in the drill", () => {
  it.each(Object.entries(SAFEGUARDS))(
    "%s: its lines occur in the sources once, and the rest is a valid program",
    (_, edits) => {
      for (const [file, text] of editedTexts("src", edits)) {
        expect(text).not.toBe(readFileSync(join("src", file), "utf8"));
        expect(() => parseAst(text, { lang: "ts" })).not.toThrow();
      }
    },
  );

  it("that has moved is detected, and so is one that occurs twice", () => {
    expect(edited("a(); guard(); b();", EDIT)).toBe("a();  b();");
    expect(() => edited("a(); b();", EDIT)).toThrow("a.ts does not say once: guard();");
    expect(() => edited("guard(); guard();", EDIT)).toThrow("a.ts does not say once: guard();");
  });

  it("has one of the names that the command accepts", () => {
    expect(Object.keys(SAFEGUARDS).every(isSafeguard)).toBe(true);
    expect([undefined, "", "toString", "cursors"].some(isSafeguard)).toBe(false);
  });
});
