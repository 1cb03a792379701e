import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changesOf, draftIn, fitting, forgetDrafts, keepDraft } from "../../../dashboard/src/shell/drafts.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import { RUNS } from "../../support/property-runs.ts";

const PLACE = { userId: "usr_1", merchantId: "mer_1", form: "new invoice" };
const FIELDS = { name: "Order 7", methods: ["ETH on ETH"], askForName: true };

/** The storage of a tab, which also contains an entry that is not a draft. */
function openTab() {
  const kept = new Map([["edgetill-steps-mer_1", "[]"]]);
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
    key: (place: number) => [...kept.keys()][place] ?? null,
    get length() {
      return kept.size;
    },
  };
}

describe("a draft", () => {
  it("restores what was typed, until it is sent or a day has passed", () => {
    const tab = openTab();
    keepDraft(tab, PLACE, FIELDS, 1_000);
    expect(draftIn(tab, PLACE, 1_000 + DAY_MS)).toEqual(FIELDS);
    keepDraft(tab, PLACE, {}, 2_000);
    expect(draftIn(tab, PLACE, 2_000)).toBeUndefined();
    keepDraft(tab, PLACE, FIELDS, 3_000);
    expect(draftIn(tab, PLACE, 3_001 + DAY_MS)).toBeUndefined();
    expect([...tab.kept.keys()]).toEqual(["edgetill-steps-mer_1"]);
  });

  it("is deleted when its user signs out, and when another signs in", () => {
    const tab = openTab();
    keepDraft(tab, PLACE, FIELDS, 1_000);
    expect(draftIn(tab, { ...PLACE, userId: "usr_12" }, 1_000)).toBeUndefined();
    expect(draftIn(tab, PLACE, 1_000)).toBeUndefined();
    keepDraft(tab, PLACE, FIELDS, 1_000);
    forgetDrafts(tab);
    expect([...tab.kept.keys()]).toEqual(["edgetill-steps-mer_1"]);
  });

  it("is restored only for the same user, merchant and form", () => {
    const word = fc.constantFrom("a", "b", "ab");
    const places = fc.record({ userId: word, merchantId: word, form: fc.constantFrom("new product", "product prd_1") });
    fc.assert(
      fc.property(places, places, (one, other) => {
        const tab = openTab();
        keepDraft(tab, one, FIELDS, 0);
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        expect(draftIn(tab, other, 0)).toEqual(isSame ? FIELDS : undefined);
      }),
      { numRuns: RUNS },
    );
  });

  it("contains only those of the given fields that were changed", () => {
    const before = { name: "", price: "", image: "", methods: [] };
    const now = { name: "Tea", price: "", image: "data:…", methods: ["ETH on ETH"] };
    expect(changesOf(before, now, ["name", "price", "methods"])).toEqual({ name: "Tea", methods: ["ETH on ETH"] });
  });

  it("fills in only fields that the form still has, with values of the same type", () => {
    const form = { name: "", methods: [], askForName: false };
    const kept = ["name", "methods", "askForName"];
    expect(fitting({ ...FIELDS, gone: "x" }, form, kept)).toEqual(FIELDS);
    expect(fitting({ name: ["a"], methods: "a", askForName: "a" }, form, kept)).toEqual({});
    expect(fitting(FIELDS, form, ["name"])).toEqual({ name: "Order 7" });
  });

  it.each(["", "nonsense", "null", "[]", '{"savedAtMs":"1","fields":{}}', '{"savedAtMs":1,"fields":{"a":{}}}'])(
    "that cannot be read is ignored: %j",
    (text) => {
      const tab = openTab();
      keepDraft(tab, PLACE, FIELDS, 0);
      const [, key = ""] = [...tab.kept.keys()];
      tab.setItem(key, text);
      expect(draftIn(tab, PLACE, 0)).toBeUndefined();
    },
  );

  it("is not stored if the tab's storage is full, and the form still works", () => {
    const full = { ...openTab(), setItem: () => expect.unreachable() };
    expect(() => keepDraft(full, PLACE, FIELDS, 0)).not.toThrow();
  });
});
