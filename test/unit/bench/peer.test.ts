// The peer is compared with the floor, so it must do the same work: derive the same addresses, one after another.
import { expect, test } from "vitest";
import { FIRST_ADDRESSES } from "../../../bench/floor/derive.ts";
import { peerDerivation } from "../../../bench/peer/derive.ts";

test("the peer derives the addresses of BIP84's test vectors", () => {
  const addressAt = peerDerivation();
  expect([addressAt(0), addressAt(1)]).toEqual(FIRST_ADDRESSES);
});
