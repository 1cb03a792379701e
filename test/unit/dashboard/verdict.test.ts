import { describe, expect, it, test } from "vitest";
import { pairsFor } from "../../../dashboard/src/wallets/pairs.ts";
import { recognise } from "../../../dashboard/src/wallets/recognise.ts";
import { verdictOf } from "../../../dashboard/src/wallets/verdict.ts";
import { accountKey } from "../../support/wallet-bodies.ts";

/** BIP84 "Test vectors". */
const ZPUB =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";

const of = (text: string, coin: string) => {
  const recognised = recognise(text);
  const pair = pairsFor(recognised).find(({ cryptocurrency }) => cryptocurrency === coin);
  if (pair === undefined) throw new Error(`${coin} is not offered for ${text}`);
  return verdictOf({ text, pair, recognised });
};

describe("the verdict on pasted text", () => {
  it("shows the first five addresses of an extended key", () => {
    const verdict = of(ZPUB, "BTC");
    expect(verdict).toMatchObject({ isUsable: true, registration: { derivationPath: "m/84h/0h/0h" } });
    const addresses = verdict.isUsable ? verdict.addresses : [];
    expect(addresses).toHaveLength(5);
    expect(addresses.slice(0, 2)).toEqual([
      { path: "m/84'/0'/0'/0/0", address: "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu" },
      { path: "m/84'/0'/0'/0/1", address: "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g" },
    ]);
  });

  it.each([
    ["BTC", "m/84'/0'/3'"],
    ["LTC", "m/84'/2'/0'"],
    ["LTC", "m/84'/2'/2147483647'"],
  ])("accepts a key for %s, to be registered with its path %s", (coin, derivationPath) => {
    expect(of(accountKey(derivationPath), coin)).toMatchObject({
      isUsable: true,
      registration: { derivationPath: derivationPath.replaceAll("'", "h") },
    });
  });

  test.each([
    ["0x52908400098527886E0F7030069857D2E4169EE7", "USDT"],
    ["TJRabPrwbZy45sbavfcjinPJC18kjpRTv8", "USDT"],
    [" bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu\n", "BTC"],
  ])("accepts %j", (text, coin) => {
    expect(of(text, coin)).toEqual({
      isUsable: true,
      registration: { walletType: "DIRECT_WALLET", address: text.trim() },
      addresses: [],
    });
  });

  test.each([
    ["0x52908400098527886E0F7030069857D2E4169Ee7", "USDT", /checksum/],
    ["bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyv", "BTC", /checksum/],
    [ZPUB.replace("rFR7", "rFR8"), "BTC", /checksum/],
    [ZPUB.replace("zpub", "ypub"), "BTC", /checksum/],
    ["0x0000000000000000000000000000000000000000", "ETH", /./],
  ])("refuses %s, and says why", (text, coin, reason) => {
    const verdict = of(text, coin);
    expect(verdict.isUsable ? "usable" : verdict.reason).toMatch(reason);
    expect(JSON.stringify(verdict)).not.toContain(text);
  });
});
