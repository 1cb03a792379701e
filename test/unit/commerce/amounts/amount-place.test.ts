import { describe, expect, it, test } from "vitest";
import { placeName, placeNamed } from "../../../../src/commerce/amounts/amount-place.ts";
import { PLACE } from "../../../support/amount-model.ts";

describe("the object name of an amount place", () => {
  test.each([PLACE, { network: "ETH_SEPOLIA", cryptocurrency: "USDC", address: "a:b" }])(
    "parses to the same place again: %o",
    (place) => {
      expect(placeNamed(placeName(place))).toEqual(place);
    },
  );

  it.each(["", "BTC", "BTC:BTC", "BTC:BTC:", ":BTC:x"])("cannot be %j", (name) => {
    expect(placeNamed(name)).toBeUndefined();
  });

  it("cannot be made from parts that contain a separator", () => {
    expect(() => placeName({ ...PLACE, network: "B:C" })).toThrow("colon");
  });
});
