import { describe, expect, it } from "vitest";
import { configuredExplorers, parseExplorers } from "../../../src/chains/registry/explorers.ts";

const TRANSACTION = "https://explorer.example/tx/{hash}";
const ADDRESS = "https://explorer.example:8443/#/address/{address}?tab=all";

describe("the setting EXPLORERS", () => {
  it.each([undefined, "", " ", "{}"])("has no explorer when it is %j", (text) => {
    expect(parseExplorers(text)).toEqual({ ok: true, value: [] });
  });

  it("maps each network, given by any of its names, to URL templates for transactions and addresses; a template may be omitted", () => {
    const text = JSON.stringify({
      ethereum: { transaction: TRANSACTION, address: ADDRESS },
      BTC: { transaction: TRANSACTION },
    });
    expect(parseExplorers(text)).toEqual({
      ok: true,
      value: [
        { network: "ETH", transaction: TRANSACTION, address: ADDRESS },
        { network: "BTC", transaction: TRANSACTION, address: null },
      ],
    });
  });

  it.each([
    ["a list instead of an object", "[]"],
    ["text that is not JSON", "ETH=https://explorer.example"],
    ["an unknown network", { MOON: { transaction: TRANSACTION } }],
    ["a network twice", { ETH: { transaction: TRANSACTION }, ethereum: { transaction: TRANSACTION } }],
    ["a template instead of an object", { ETH: TRANSACTION }],
    ["an unknown member", { ETH: { tx: TRANSACTION } }],
    ["a number as a template", { ETH: { transaction: 1 } }],
    ["an http URL", { ETH: { transaction: "http://explorer.example/tx/{hash}" } }],
    ["a javascript: URL", { ETH: { transaction: "javascript:alert('{hash}')" } }],
    ["a space before a template", { ETH: { transaction: " https://explorer.example/{hash}" } }],
    ["user information", { ETH: { transaction: "https://user:secret@explorer.example/{hash}" } }],
    ["a placeholder in the host", { ETH: { transaction: "https://{hash}.example/tx/" } }],
    ["a placeholder as the host", { ETH: { transaction: "https://{hash}/" } }],
    ["no placeholder", { ETH: { transaction: "https://explorer.example/tx/" } }],
    ["two placeholders", { ETH: { transaction: "https://explorer.example/{hash}/{hash}" } }],
    [
      "an address's placeholder in a transaction's template",
      { ETH: { transaction: "https://explorer.example/{address}" } },
    ],
    ["a space inside a template", { ETH: { transaction: "https://explorer.example/a b/{hash}" } }],
    ["a very long template", { ETH: { transaction: `https://explorer.example/${"a".repeat(300)}/{hash}` } }],
  ])("is refused as a whole with %s", (_, given) => {
    const text = typeof given === "string" ? given : JSON.stringify(given);
    expect(parseExplorers(text).ok).toBe(false);
    expect(configuredExplorers(text)).toEqual([]);
  });
});
