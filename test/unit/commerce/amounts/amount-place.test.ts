import { describe, expect, it, test } from "vitest";
import { placeName, placeNamed } from "../../../../src/commerce/amounts/amount-place.ts";
import { PLACE } from "../../../support/amount-model.ts";

describe("the name of a place", () => {
  test.each([PLACE, { network: "ETH_SEPOLIA", cryptocurrency: "USDC", address: "a:b" }])(
    "is read back: %o",
    (place) => {
      expect(placeNamed(placeName(place))).toEqual(place);
    },
  );

  it.each(["", "BTC", "BTC:BTC", "BTC:BTC:", ":BTC:x"])("is not %s", (name) => {
    expect(placeNamed(name)).toBeUndefined();
  });

  it("cannot be made of parts that would parse differently", () => {
    expect(() => placeName({ ...PLACE, network: "B:C" })).toThrow("colon");
  });
});
