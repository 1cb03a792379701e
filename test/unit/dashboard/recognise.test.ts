import { describe, expect, it, test } from "vitest";
import { recognise, recognisedText } from "../../../dashboard/src/wallets/recognise.ts";

const ZPUB =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";

describe("a pasted text", () => {
  test.each([
    ["0x52908400098527886E0F7030069857D2E4169EE7", { kind: "ADDRESS", family: "evm" }],
    [" TJRabPrwbZy45sbavfcjinPJC18kjpRTv8\n", { kind: "ADDRESS", family: "tron" }],
    ["bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", { kind: "ADDRESS", family: "bitcoin", coin: "BTC" }],
    ["1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", { kind: "ADDRESS", family: "bitcoin", coin: "BTC" }],
    ["LM2WMpR1Rp6j3Sa59cMXMs1SPzj9eXpGc1", { kind: "ADDRESS", family: "bitcoin", coin: "LTC" }],
    [ZPUB, { kind: "XPUB", purpose: 84 }],
    [ZPUB.replace("zpub", "ypub"), { kind: "XPUB", purpose: 49 }],
    [ZPUB.replace("zpub", "Mtub"), { kind: "XPUB", purpose: 49, coin: "LTC" }],
    ["hello", { kind: "UNKNOWN" }],
    ["", { kind: "UNKNOWN" }],
  ])("%j is recognised as %j", (text, recognised) => {
    expect(recognise(text)).toEqual(recognised);
  });

  test.each([
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
    "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318",
    ZPUB.replace("zpub", "zprv"),
  ])("that is a secret, such as %s, causes a warning", (text) => {
    expect(recognisedText(recognise(text))).toMatch(/^This looks like a private key/);
  });

  it("that is not recognised is shown without a comment", () => {
    expect(recognisedText(recognise("hello"))).toBeUndefined();
  });
});
