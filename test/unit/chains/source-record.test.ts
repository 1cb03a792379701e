// Operators see the newest facts that any object has recorded about a source, but never a key.
import { describe, expect, it } from "vitest";
import { freePart, parseChainSources } from "../../../src/chains/sources/chain-sources.ts";
import { outageWords } from "../../../src/chains/sources/outage-words.ts";
import { recordKey, shownHost } from "../../../src/chains/sources/source-host.ts";
import { isNews, NO_RECORD, newerRecord } from "../../../src/chains/sources/source-state.ts";

describe("the host that operators see", () => {
  it.each([
    ["https://mainnet.infura.io/v3/0123456789abcdef0123456789abcdef", "mainnet.infura.io"],
    ["https://node.example:8545/?apikey=0123456789abcdef", "node.example:8545"],
    ["http://10.0.0.5:8332", "10.0.0.5:8332"],
    ["https://0123456789abcdef0123456789abcdef.eth.rpc.example", "….eth.rpc.example"],
    ["https://eth.1b4e28ba-2fa1-11d2-883f-0016d3cca427.example", "eth.….example"],
    ["https://cool-dry-frost-123.quiknode.example/token", "cool-dry-frost-123.quiknode.example"],
    ["http://[2001:db8::1]:8545", "[2001:db8::1]:8545"],
  ])("of %s is %s", (url, host) => {
    expect(shownHost(url)).toBe(host);
  });

  it("contains no user name or password", () => {
    const CHAIN_SOURCES = '{"BTC":[{"kind":"core-rpc","url":"http://hunter:secret@node.example:8332"}]}';
    const parsed = parseChainSources({ CHAIN_SOURCES });
    expect(parsed.ok && shownHost(parsed.value.get("BTC")?.[0]?.url ?? "")).toBe("node.example:8332");
  });
});

describe("the key of a source's record", () => {
  const of = (url: string, place = 0) => recordKey(place, { kind: "evm-rpc", url });

  it("depends on position and host, but not on parts of the URL that may be a key", () => {
    expect(of("https://a.example/one")).toBe(of("https://a.example/two?key=3"));
    expect(new Set([of("https://a.example"), of("https://b.example"), of("https://a.example", 1)]).size).toBe(3);
    expect(of("https://a.example/one")).not.toMatch(/example|one/);
  });
});

describe("two records of one source", () => {
  const answered = { ...NO_RECORD, answeredAtMs: 10, height: 7 };
  const failed = { ...NO_RECORD, failedAtMs: 20, failure: "BANNED" as const };

  it("are merged by taking the newest value of each fact, in any order", () => {
    const both = { answeredAtMs: 10, height: 7, failedAtMs: 20, failure: "BANNED" };
    expect([newerRecord(answered, failed), newerRecord(failed, answered)]).toEqual([both, both]);
    const later = { ...NO_RECORD, answeredAtMs: 30 };
    expect(newerRecord(answered, later)).toEqual({ ...answered, answeredAtMs: 30 });
  });

  it("differ if one has a new failure, or an answer that is newer by at least the given time", () => {
    expect(isNews(answered, failed, 60_000)).toBe(true);
    expect(isNews(answered, { ...answered, answeredAtMs: 60_009 }, 60_000)).toBe(false);
    expect(isNews(answered, { ...answered, answeredAtMs: 60_010 }, 60_000)).toBe(true);
    expect([isNews(answered, answered, 1), isNews(NO_RECORD, NO_RECORD, 1)]).toEqual([false, false]);
  });
});

describe("the description of a failure", () => {
  it("contains the status of an HTTP error, and nothing else from its message", () => {
    expect(outageWords("BAD_STATUS", "status 404").message).toBe("It answered with an error (HTTP status 404)");
    expect(outageWords("UNREACHABLE", "https://node.example/token").message).toBe("No connection to it could be made");
  });
});

it("the next free CHAIN_SOURCES variable is the first one without a value", () => {
  expect(freePart({})).toBe("CHAIN_SOURCES");
  expect(freePart({ CHAIN_SOURCES: '{"ETH":[]}', CHAIN_SOURCES_2: " ", CHAIN_SOURCES_3: "{}" })).toBe(
    "CHAIN_SOURCES_2",
  );
  const all = Object.fromEntries(["", ..."23456789"].map((n) => [`CHAIN_SOURCES${n === "" ? "" : `_${n}`}`, "x"]));
  expect(freePart(all)).toBeUndefined();
});
