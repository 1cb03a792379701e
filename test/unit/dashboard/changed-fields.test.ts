import fc from "fast-check";
import { expect, it } from "vitest";
import { changedFields } from "../../../dashboard/src/api/changed-fields.ts";

const leaf = fc.constantFrom(null, "", "a", "b", 0, 1, [], ["a"], ["a", "b"]);
const settings = fc.record({ name: leaf, limit: leaf, brand: fc.record({ name: leaf, color: leaf }) });

it("a field that one of two users changed takes precedence over the old value in the other user's form", () => {
  fc.assert(
    fc.property(settings, settings, settings, (opened, mine, theirs) => {
      const { brand = {}, ...rest } = changedFields(opened, mine);
      const after = { ...theirs, ...rest, brand: { ...theirs.brand, ...brand } };
      expect([after.name, after.limit]).toEqual([
        kept(opened.name, mine.name, theirs.name),
        kept(opened.limit, mine.limit, theirs.limit),
      ]);
      expect([after.brand.name, after.brand.color]).toEqual([
        kept(opened.brand.name, mine.brand.name, theirs.brand.name),
        kept(opened.brand.color, mine.brand.color, theirs.brand.color),
      ]);
    }),
  );
});

it("unchanged fields are not sent", () => {
  fc.assert(
    fc.property(settings, (opened) => {
      expect(changedFields(opened, structuredClone(opened))).toEqual({});
    }),
  );
});

function kept<T>(opened: T, mine: T, theirs: T): T {
  return JSON.stringify(opened) === JSON.stringify(mine) ? theirs : mine;
}
