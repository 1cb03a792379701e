import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NETWORKS } from "../../../../src/chains/registry/networks.ts";
import type { Wallet } from "../../../../src/commerce/wallet-records/wallet.ts";
import { type CodeAnswer, networksLike, offersOf } from "../../../../src/commerce/wallets/network-offer.ts";
import { DIRECT_WALLET } from "./direct-wallet.ts";

const MAIN = ["ETH", "POL", "BNB", "CRO", "BASE", "ARBITRUM", "OPTIMISM"];
const TEST = [
  "ETH_SEPOLIA",
  "POL_AMOY",
  "BNB_TESTNET",
  "CRO_TESTNET",
  "BASE_SEPOLIA",
  "ARBITRUM_SEPOLIA",
  "OPTIMISM_SEPOLIA",
];
const ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const OTHER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

let made = 0;
const walletOn = (network: string, cryptocurrency: string, address = ADDRESS): Wallet => {
  made++;
  return { ...DIRECT_WALLET, id: `wal_${made}`, network, cryptocurrency, address };
};
const WALLET = walletOn("ETH", "USDT");

/** All networks report no code at the address, except those in `others`. */
const answersWith = (others: Readonly<Record<string, CodeAnswer>> = {}) =>
  new Map<string, CodeAnswer>([...MAIN, ...TEST].map((name) => [name, others[name] ?? "NO_CODE"]));
const statesWith = (
  others: Readonly<Record<string, CodeAnswer>>,
  live: readonly Wallet[] = [WALLET],
  wallet = WALLET,
) =>
  Object.fromEntries(
    offersOf({ wallet, live, answers: answersWith(others) }).map(({ network, state }) => [network, state]),
  );
const allOf = (state: string, others: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(MAIN.map((name) => [name, others[name] ?? state]));

describe("the networks on which a wallet's address may be used", () => {
  it("are all EVM main networks or all EVM test networks, depending on the wallet's own", () => {
    expect(networksLike(WALLET).map(({ name }) => name)).toEqual(MAIN);
    expect(networksLike(walletOn("BASE_SEPOLIA", "ETH")).map(({ name }) => name)).toEqual(TEST);
  });

  it("do not exist for Bitcoin, TRON or an extended key", () => {
    for (const { name } of NETWORKS.filter(({ family }) => family !== "evm"))
      expect(networksLike({ network: name, address: ADDRESS })).toEqual([]);
    expect(networksLike({ network: "ETH", address: null })).toEqual([]);
  });
});

describe("an offer of other networks", () => {
  it("is made for each network that has no code at the address", () => {
    expect(statesWith({})).toEqual(allOf("FREE"));
  });

  it("is not made if any network has code at the address, including the wallet's own and one where the merchant has no wallet", () => {
    expect(statesWith({ ETH: "CODE" })).toEqual(allOf("CODE_ELSEWHERE", { ETH: "CODE" }));
    expect(statesWith({ CRO: "CODE", BNB: "NO_SOURCE" })).toEqual(allOf("CODE_ELSEWHERE", { CRO: "CODE" }));
  });

  it("is not made for a network that cannot be queried, and the reason is given", () => {
    expect(statesWith({ BASE: "NO_SOURCE", POL: "NO_ANSWER" })).toEqual(
      allOf("FREE", { BASE: "NO_SOURCE", POL: "NO_ANSWER" }),
    );
  });

  it("is not made while a network where the merchant uses the address cannot be queried, because the address may have code there", () => {
    expect(statesWith({ ETH: "NO_ANSWER" })).toEqual(allOf("UNPROVEN", { ETH: "NO_ANSWER" }));
    const live = [WALLET, walletOn("POL", "USDC"), walletOn("BNB", "BNB", OTHER)];
    expect(statesWith({ POL: "NO_SOURCE" }, live)).toEqual(allOf("UNPROVEN", { POL: "NO_SOURCE" }));
    expect(statesWith({ BNB: "NO_SOURCE" }, live)).toEqual(allOf("FREE", { BNB: "NO_SOURCE" }));
  });

  it("for main networks does not depend on test networks on which the merchant uses the address, or vice versa", () => {
    const tried = walletOn("BASE_SEPOLIA", "ETH");
    const [main] = [
      offersOf({ wallet: WALLET, live: [WALLET, tried], answers: new Map(MAIN.map((name) => [name, "NO_CODE"])) }),
    ];
    expect(new Set(main.map(({ state }) => state))).toEqual(new Set(["FREE"]));
    const test = offersOf({
      wallet: tried,
      live: [WALLET, tried],
      answers: new Map(TEST.map((name) => [name, "NO_CODE"])),
    });
    expect(new Set(test.map(({ state }) => state))).toEqual(new Set(["FREE"]));
  });

  it("includes a coin's existing wallet, even one with another address, and is not made for a network whose coins all have wallets", () => {
    const own = ["ETH", "USDC", "EURC"].map((code) => walletOn("BASE", code, code === "ETH" ? OTHER : ADDRESS));
    const offers = offersOf({ wallet: WALLET, live: [WALLET, ...own], answers: answersWith() });
    const base = offers.find(({ network }) => network === "BASE");
    expect(base?.state).toBe("REGISTERED");
    expect(base?.coins.map(({ walletId }) => walletId)).toEqual(own.map(({ id }) => id));
    const eth = offers.find(({ network }) => network === "ETH");
    expect(eth?.coins.filter(({ walletId }) => walletId !== null)).toEqual([
      { cryptocurrency: "USDT", walletId: WALLET.id },
    ]);
  });

  it("is never made for a network that has code or does not answer, whatever other networks answer", () => {
    const answer = fc.constantFrom<CodeAnswer>("CODE", "NO_CODE", "NO_SOURCE", "NO_ANSWER");
    const answered = fc.dictionary(fc.constantFrom(...MAIN), answer, { noNullPrototype: true });
    const used = fc.uniqueArray(fc.constantFrom(...MAIN));
    fc.assert(
      fc.property(answered, used, (said, networks) => {
        const answers = new Map(Object.entries(said));
        const live = [WALLET, ...networks.map((name) => walletOn(name, "ETH"))];
        const free = offersOf({ wallet: WALLET, live, answers }).filter(({ state }) => state === "FREE");
        const mustAnswer = ["ETH", ...networks, ...free.map(({ network }) => network)];
        if (free.length > 0) {
          expect([...answers.values()]).not.toContain("CODE");
          expect(mustAnswer.filter((name) => answers.get(name) !== "NO_CODE")).toEqual([]);
        }
        expect(free.filter(({ coins }) => coins.every(({ walletId }) => walletId !== null))).toEqual([]);
      }),
    );
  });
});
