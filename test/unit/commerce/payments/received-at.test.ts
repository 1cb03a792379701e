// The payment's time (decisions 4, "As of the payment's time"). chain-observation-properties.test.ts tests random histories.
import { describe, expect, it } from "vitest";
import { MINUTE_MS } from "../../../../src/lib/time.ts";
import { blockAt, lookAt } from "../../../support/payment-facts.ts";
import { type Look, mined, PENDING, REPLACED, story, UNKNOWN } from "../../../support/payment-story.ts";

describe("the time at which a payment was received", () => {
  const at = (minutes: number) => lookAt(100, { nowMs: blockAt(100).timeMs + minutes * MINUTE_MS });
  const receivedAfter = (looks: readonly Look[]) =>
    (story(looks).payment.receivedAtMs - blockAt(100).timeMs) / MINUTE_MS;
  const cases: [string, Look[], number][] = [
    ["the block's time", [[mined(100), at(3)]], 0],
    [
      "when it was first seen in a mempool, if that is earlier",
      [
        [PENDING, at(-5)],
        [mined(100), at(3)],
      ],
      -5,
    ],
    [
      "the block's time, if that is earlier than when it was first seen in a mempool",
      [
        [PENDING, at(5)],
        [mined(100), at(6)],
      ],
      0,
    ],
    [
      "the orphaned block's time after it moved to a later block",
      [
        [mined(100), at(3)],
        [mined(101, "b"), at(15)],
      ],
      0,
    ],
    [
      "the new block's time after a reorg, if that is earlier",
      [
        [mined(101), at(15)],
        [mined(100, "b"), at(16)],
      ],
      0,
    ],
    [
      "the orphaned block's time after it left the chain and was mined again",
      [
        [mined(100), at(3)],
        [UNKNOWN, at(4)],
        [mined(101, "b"), at(15)],
      ],
      0,
    ],
    [
      "the orphaned block's time once it is back in a mempool",
      [
        [mined(100), at(3)],
        [PENDING, at(4)],
      ],
      0,
    ],
    [
      "the time of an orphaned block, even though it was seen in a mempool after that time",
      [
        [PENDING, at(5)],
        [mined(100), at(6)],
        [mined(101, "b"), at(15)],
      ],
      0,
    ],
    [
      "the earliest time of many blocks, in any order",
      [
        [mined(102), at(25)],
        [UNKNOWN, at(26)],
        [mined(100, "b"), at(27)],
        [mined(103, "c"), at(35)],
      ],
      0,
    ],
    ["when it was first seen, if the clock of its block's miner is ahead", [[mined(100), at(-60)]], -60],
    [
      "when it was first seen in a block whose miner's clock is ahead, even after it left that block",
      [
        [mined(100), at(-5)],
        [PENDING, at(-3)],
        [mined(101, "b"), at(15)],
      ],
      -5,
    ],
    [
      "when it was next seen after it was replaced",
      [
        [PENDING, at(-5)],
        [REPLACED, at(-4)],
        [mined(100), at(3)],
      ],
      0,
    ],
    [
      "when it was next seen after it was replaced, if its block's time is later",
      [
        [mined(99), at(-5)],
        [REPLACED, at(-4)],
        [mined(100), at(-3)],
      ],
      -3,
    ],
    [
      "when it was first seen in a mempool, even if it went back there",
      [
        [PENDING, at(-5)],
        [mined(100), at(6)],
        [PENDING, at(7)],
        [mined(101, "b"), at(15)],
      ],
      -5,
    ],
    [
      "unchanged while it is in neither a block nor a mempool",
      [
        [mined(100), at(3)],
        [UNKNOWN, at(4)],
      ],
      0,
    ],
  ];
  it.each(cases)("is %s", (_, looks, minutes) => {
    expect(receivedAfter(looks)).toBe(minutes);
  });
});
