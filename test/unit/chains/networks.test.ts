import { describe, expect, test } from "vitest";
import { decodeBase58check } from "../../../src/chains/encodings/address-text.ts";
import { checksumAddress } from "../../../src/chains/evm/address.ts";
import { assetOn, CRYPTO_CODES, NETWORKS, networkNamed } from "../../../src/chains/registry/networks.ts";
import { network } from "../../support/named-network.ts";

describe("a network", () => {
  test.each([
    ["BTC", ["btc", "Bitcoin"]],
    ["LTC", ["litecoin"]],
    ["ETH", ["eth", "Ethereum"]],
    ["POL", ["polygon", "MATIC", "Polygon"]],
    ["BNB", ["bsc", "BSC"]],
    ["CRO", ["Cronos"]],
    ["TRX", ["TRON", "tron"]],
    ["BASE", ["Base"]],
    ["ARBITRUM", ["Arbitrum_One", "arb"]],
    ["OPTIMISM", ["OP_Mainnet", "op"]],
    ["POL_AMOY", ["polygon_amoy"]],
    ["BNB_TESTNET", ["bsc_testnet"]],
    ["CRO_TESTNET", ["CRONOS_TESTNET"]],
    ["TRX_NILE", ["tron_nile"]],
    ["BASE_SEPOLIA", ["Base_Sepolia"]],
    ["ARBITRUM_SEPOLIA", ["arb_sepolia"]],
    ["OPTIMISM_SEPOLIA", ["op_sepolia"]],
  ] as const)("%s is found by its name and its aliases %j, ignoring case", (name, others) => {
    for (const spelling of [name, name.toLowerCase(), ...others]) expect(networkNamed(spelling)?.name).toBe(name);
  });

  test.each(["", " BTC", "BTC\n", "bıtcoin", "DOGE", "BTC_TESTNET4", "__proto__", "constructor", "B".repeat(10_000)])(
    "%j is not a network",
    (text) => {
      expect(networkNamed(text)).toBeUndefined();
    },
  );

  test("shares no name or alias with another", () => {
    const names = NETWORKS.flatMap((each) => [each.name, ...each.aliases]);
    expect(new Set(names).size).toBe(names.length);
    expect(NETWORKS).toHaveLength(22);
  });

  test("has a unique chain id, or is Bitcoin-like with address prefixes and a coin type", () => {
    const ids = NETWORKS.flatMap((each) => (each.chainId === null ? [] : [each.chainId]));
    expect(new Set(ids).size).toBe(ids.length);
    for (const each of NETWORKS) {
      expect(each.chainId === null).toBe(each.family === "bitcoin");
      expect(each.utxo !== null).toBe(each.family === "bitcoin");
      expect(each.coinType !== null).toBe(each.family === "bitcoin");
    }
  });

  test("that is a test network has coin type 1 and the block time and reorg window of its main network", () => {
    for (const each of NETWORKS.filter((one) => one.isTest)) {
      const main = networkNamed(each.name.split("_")[0] ?? "");
      if (main === undefined || main.isTest) throw new Error(`${each.name} has no main network`);
      expect(each.nativeCode).toBe(main.nativeCode);
      expect(each.coinType).toBe(main.coinType === null ? null : 1);
      expect(each.blockSeconds).toBe(main.blockSeconds);
      expect(each.reorgWindowBlocks).toBe(main.reorgWindowBlocks);
    }
  });

  test("is frozen, with all its parts", () => {
    const btc = network("BTC");
    for (const part of [
      NETWORKS,
      btc,
      btc.assets,
      btc.assets[0],
      btc.aliases,
      btc.utxo,
      btc.assets[0]?.coarseGrainUnits,
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });
});

describe("the confirmations, overlap and reorg window", () => {
  test.each([
    ["BTC", 600, 6, 3, 6],
    ["LTC", 150, 12, 6, 12],
    ["ETH", 12, 64, 12, 64],
    ["POL", 2, 64, 12, 64],
    ["BNB", 0.45, 32, 15, 32],
    ["CRO", 6, 5, 2, 5],
    ["TRX", 3, 19, 19, 30],
    ["BASE", 2, 600, 12, 16],
    ["OPTIMISM", 2, 600, 12, 16],
    ["ARBITRUM", 0.25, 4_800, 96, 128],
  ] as const)(
    "of %s are those of chains.md 3, as is its block time",
    (name, blockSeconds, reorgWindowBlocks, recommendedConfirmations, overlapBlocks) => {
      expect(network(name)).toMatchObject({ blockSeconds, reorgWindowBlocks, recommendedConfirmations, overlapBlocks });
    },
  );

  test("cover the same times on every rollup, regardless of its block time", () => {
    const rollups = NETWORKS.filter(({ name, nativeCode }) => nativeCode === "ETH" && !name.startsWith("ETH"));
    expect(rollups.map(({ name }) => name)).toEqual(expect.arrayContaining(["BASE", "ARBITRUM", "OPTIMISM"]));
    for (const { blockSeconds, reorgWindowBlocks, overlapBlocks, recommendedConfirmations } of rollups) {
      const seconds = [reorgWindowBlocks, overlapBlocks, recommendedConfirmations].map(
        (blocks) => blocks * blockSeconds,
      );
      expect(seconds).toEqual([1_200, 32, 24]);
    }
  });
});

describe("an asset", () => {
  test.each([
    ["ETH", "USDT", 6],
    ["ETH", "DAI", 18],
    ["ETH", "WBTC", 8],
    ["ETH", "PYUSD", 6],
    ["ETH", "UNI", 18],
    ["ETH", "SHIB", 18],
    ["POL", "USDT", 6],
    ["BNB", "USDT", 18],
    ["BNB", "USDC", 18],
    ["CRO", "USDC", 6],
    ["CRO", "DAI", 18],
    ["TRX", "USDT", 6],
    ["TRX", "TRX", 6],
    ["BASE", "ETH", 18],
    ["BASE", "USDC", 6],
    ["ARBITRUM", "USDT", 6],
    ["OPTIMISM", "DAI", 18],
    ["BTC", "BTC", 8],
    ["LTC", "LTC", 8],
    ["BNB", "BNB", 18],
  ] as const)("on %s (%s) has %i decimals", (name, code, decimals) => {
    expect(assetOn(network(name), code.toLowerCase())).toMatchObject({ code, decimals });
  });

  test.each([
    ["BTC", "USDT"],
    ["TRX", "USDC"],
    ["BNB", "WBTC"],
    ["ETH", "BTC"],
    ["POL", "SHIB"],
    ["BNB", "UNI"],
    ["POL", "USDC.e"],
    ["BASE", "BASE"],
    ["BASE", "USDT"],
    ["ARBITRUM", "USDC.e"],
    ["OPTIMISM", "USDT"],
    ["BNB_TESTNET", "USDT"],
    ["TRX_NILE", "USDT"],
    ["ETH", ""],
    ["ETH", "__proto__"],
  ] as const)("on %s does not exist under the code %j", (name, code) => {
    expect(assetOn(network(name), code)).toBeUndefined();
  });

  test("is listed first if it is the native coin, and each code is listed once per network", () => {
    for (const each of NETWORKS) {
      expect(each.assets[0]).toMatchObject({ code: each.nativeCode, contract: null });
      expect(each.assets.slice(1).every((asset) => asset.contract !== null)).toBe(true);
      expect(new Set(each.assets.map((asset) => asset.code)).size).toBe(each.assets.length);
    }
  });

  test("has its contract in canonical form", () => {
    for (const each of NETWORKS) {
      for (const { contract } of each.assets) {
        if (contract === null) continue;
        if (each.family === "evm") expect(checksumAddress(contract.slice(2))).toBe(contract);
        else expect(decodeBase58check(contract)?.[0]).toBe(0x41);
      }
    }
  });

  test.each([
    ["BTC", "BTC", 1n, []],
    ["LTC", "LTC", 10n, []],
    ["ETH", "ETH", 10n ** 10n, []],
    ["BNB", "BNB", 10n ** 10n, []],
    ["POL", "POL", 10n ** 12n, []],
    ["CRO", "CRO", 10n ** 12n, []],
    ["TRX", "TRX", 1n, []],
    ["ETH", "WBTC", 1n, []],
    ["ETH", "USDT", 1n, [10_000n, 1_000n, 100n]],
    ["BNB", "USDT", 10n ** 12n, [10n ** 16n, 10n ** 15n, 10n ** 14n]],
    ["ETH", "DAI", 10n ** 12n, [10n ** 16n, 10n ** 15n, 10n ** 14n]],
    ["ETH", "PYUSD", 1n, [10_000n, 1_000n, 100n]],
    ["ETH", "UNI", 10n ** 12n, []],
    ["ETH", "SHIB", 10n ** 16n, [10n ** 18n]],
  ] as const)("on %s (%s) has the grain of chains.md 4", (name, code, grainUnits, coarseGrainUnits) => {
    expect(assetOn(network(name), code)).toMatchObject({ grainUnits, coarseGrainUnits });
  });

  test("has no grain finer than 10^-8, because exchanges truncate amounts there", () => {
    const finer = NETWORKS.flatMap((each) => each.assets).filter(
      ({ decimals, grainUnits }) => grainUnits * 10n ** 8n < 10n ** BigInt(decimals),
    );
    expect(finer.map(({ code }) => code)).toEqual([]);
  });

  test("has coarser grains, each of which is a multiple of the next finer grain", () => {
    for (const asset of NETWORKS.flatMap((each) => each.assets)) {
      const grains = [...asset.coarseGrainUnits, asset.grainUnits];
      grains.slice(1).forEach((finer, index) => {
        const coarser = grains[index] ?? 0n;
        expect(coarser > finer && coarser % finer === 0n).toBe(true);
      });
    }
  });

  test("has its code exactly once in CRYPTO_CODES", () => {
    const codes = [
      "BTC",
      "LTC",
      "ETH",
      "USDT",
      "USDC",
      "DAI",
      "WBTC",
      "EURC",
      "PYUSD",
      "UNI",
      "SHIB",
      "POL",
      "BNB",
      "CRO",
      "TRX",
    ];
    expect([...CRYPTO_CODES].sort()).toEqual(codes.sort());
  });
});
