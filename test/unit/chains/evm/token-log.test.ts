import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  accountOf,
  LOG_TRANSFER_TOPIC,
  POLYGON_COIN,
  polygonMovement,
  TRANSFER_TOPIC,
  tokenMovement,
  topicOf,
  wantedOf,
} from "../../../../src/chains/evm/token-log.ts";
import { network } from "../../../support/named-network.ts";
import { RUNS } from "../../../support/property-runs.ts";

const SHOP = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const payer = `0x${"44".repeat(20)}`;
const shop = SHOP.toLowerCase();
const usdt = "0xdac17f958d2ee523a2206206994597c13d831ec7";
const word = (value: bigint) => value.toString(16).padStart(64, "0");
const wanted = wantedOf(new Set([SHOP]), network("ETH").assets);

describe("a log of a token", () => {
  const log = { address: usdt, topics: [TRANSFER_TOPIC, topicOf(payer), topicOf(shop)], data: `0x${word(5n)}` };
  const moved = { cryptocurrency: "USDT", from: payer, to: shop, units: 5n };

  it("is read as a movement with token, sender, recipient and units", () => {
    expect(tokenMovement(log, wanted)).toEqual(moved);
  });

  it.each([
    ["the contract", { address: "0xDAC17F958D2EE523A2206206994597C13D831EC7" }],
    ["some of the contract's digits", { address: "0xdAC17F958D2ee523a2206206994597C13D831ec7" }],
    ["the topics", { topics: log.topics.map((topic) => `0x${topic.slice(2).toUpperCase()}`) }],
    ["the amount", { data: log.data.replace("5", "A").toUpperCase().replace("X", "x") }],
  ])("is read correctly with upper-case hexadecimal in %s", (what, changes) => {
    expect(tokenMovement({ ...log, ...changes }, wanted)).toEqual({
      ...moved,
      units: what === "the amount" ? 10n : 5n,
    });
  });

  it("may move the largest amount that fits in a word", () => {
    const units = 2n ** 256n - 1n;
    expect(tokenMovement({ ...log, data: `0x${word(units)}` }, wanted)).toEqual({ ...moved, units });
  });

  it.each<[string, Partial<typeof log>]>([
    ["another contract", { address: `0x${"66".repeat(20)}` }],
    ["a contract whose address begins like the token's", { address: `${usdt.slice(0, 40)}00` }],
    ["another event", { topics: [LOG_TRANSFER_TOPIC, ...log.topics.slice(1)] }],
    ["an ERC-721's id as a fourth topic", { topics: [...log.topics, `0x${word(7n)}`] }],
    ["two topics", { topics: log.topics.slice(0, 2) }],
    ["another recipient", { topics: [TRANSFER_TOPIC, topicOf(shop), topicOf(payer)] }],
    [
      "a recipient longer than an address",
      { topics: [TRANSFER_TOPIC, topicOf(payer), `0x01${topicOf(shop).slice(4)}`] },
    ],
    ["a sender that is not an address", { topics: [TRANSFER_TOPIC, `0x${"f".repeat(64)}`, topicOf(shop)] }],
    ["no amount", { data: "0x" }],
    ["an amount of zero", { data: `0x${word(0n)}` }],
    ["64 bytes of data", { data: `0x${word(5n)}${word(5n)}` }],
    ["31 bytes of data", { data: `0x${word(5n).slice(2)}` }],
    ["data that is not hexadecimal", { data: `0x${"z".repeat(64)}` }],
  ])("with %s is not a transfer", (_, changes) => {
    expect(tokenMovement({ ...log, ...changes }, wanted)).toBeUndefined();
  });

  it("of a token that was not requested is not a transfer", () => {
    const dai = network("ETH").assets.filter(({ code }) => code === "DAI");
    expect(tokenMovement(log, wantedOf(new Set([SHOP]), dai))).toBeUndefined();
  });
});

describe("a log of Polygon's coin", () => {
  const coins = wantedOf(new Set([SHOP]), network("POL").assets);
  const log = {
    address: POLYGON_COIN,
    topics: [LOG_TRANSFER_TOPIC, `0x${word(0x1010n)}`, topicOf(payer), topicOf(shop)],
    data: `0x${[5n, 100n, 7n, 95n, 12n].map(word).join("")}`,
  };

  it("is read with the units in its first data word, and not as a token", () => {
    expect(polygonMovement(log, coins)).toEqual({ cryptocurrency: "POL", from: payer, to: shop, units: 5n });
    expect(tokenMovement(log, coins)).toBeUndefined();
  });

  it.each<[string, Partial<typeof log>]>([
    ["another contract", { address: usdt }],
    ["another event, such as the one for fees", { topics: [`0x${"4d".repeat(32)}`, ...log.topics.slice(1)] }],
    ["three topics", { topics: log.topics.slice(0, 3) }],
    ["another recipient", { topics: [...log.topics.slice(0, 3), topicOf(payer)] }],
    ["an amount of zero", { data: `0x${[0n, 100n, 7n, 100n, 7n].map(word).join("")}` }],
    ["no data", { data: "0x" }],
    ["half a word", { data: log.data.slice(0, -2) }],
  ])("with %s is not a transfer", (_, changes) => {
    expect(polygonMovement({ ...log, ...changes }, coins)).toBeUndefined();
  });

  it("is not a transfer when the coin was not requested", () => {
    const tokens = network("POL").assets.filter(({ contract }) => contract !== null);
    expect(polygonMovement(log, wantedOf(new Set([SHOP]), tokens))).toBeUndefined();
  });
});

it("an address is unchanged after conversion to a topic and back", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 160n - 1n }), (value) => {
      const account = `0x${value.toString(16).padStart(40, "0")}`;
      expect(accountOf(topicOf(account))).toBe(account);
    }),
    { numRuns: RUNS },
  );
});
