// A deploy uses public sources only on request, and only those that pass a test.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseChainSources } from "../../../../src/chains/sources/chain-sources.ts";
import { NOW_MS, newOperator, type Operator } from "../../../support/deploys.ts";
import { startVendors, type VendorFault, type Vendors } from "../../../support/vendor-stand-ins.ts";

const ALL_FLAGS = ["--name", "shop", "--location", "weur", "--workers-dev", "--mail", "none"];
const AGAIN = ["--name", "shop", "--yes"];
const FOLDER = ".edgetill/deployments/shop";

let vendors: Vendors;
let shop: Operator;
beforeEach(async () => {
  vendors = await startVendors(NOW_MS);
  shop = newOperator({ vendors: vendors.edge });
});
afterEach(async () => {
  shop.leave();
  await vendors.close();
});

const uploaded = () => shop.account().workers.shop?.secrets.CHAIN_SOURCES;
const secretsFile = () => readFileSync(join(shop.folder, FOLDER, "secrets.env"), "utf8");
/** The hosts that were given to the Worker, by network. */
function named(): Readonly<Record<string, readonly string[]>> {
  const sources = parseChainSources({ CHAIN_SOURCES: uploaded() });
  if (!sources.ok) throw new Error(sources.error);
  return Object.fromEntries([...sources.value].map(([name, list]) => [name, list.map(({ url }) => new URL(url).host)]));
}
const FIRST_NETWORKS = ["BTC", "LTC", "ETH", "POL", "BNB", "CRO", "TRX"];
const ETH = ["mainnet.gateway.tenderly.co", "eth.api.onfinality.io"];

/** A deploy without a terminal that requests these networks. */
const deployWith = (list: string) => shop.deploy([...ALL_FLAGS, "--yes", "--public-sources", list]);

describe("at a terminal", () => {
  it("public sources are offered with their documents before the confirmation, and those chosen that answer are uploaded and listed", async () => {
    const { status, asked, printed } = await shop.deploy(ALL_FLAGS, ["eth, Bitcoin", "y"]);
    expect(asked).toEqual([expect.stringContaining("(empty for none)"), "Go on? [y/N] "]);
    expect(printed).toMatch(/Whoever runs one learns the addresses that you watch[\s\S]*They are untried/);
    expect(printed).toMatch(/ {2}ETH {3}Tenderly \(https:\/\/docs\.tenderly\.co\/\S+, read 2026-11-27\)\n/);
    expect(printed).toMatch(/ {2}ETH: Tenderly answers: block 1000, 2 s old\n/);
    expect(named()).toEqual({ BTC: ["mempool.space", "blockstream.info"], ETH });
    expect(printed).toContain("Takes payments now: BTC (2 sources), ETH (2 sources).\n");
    expect(printed).toContain("LTC, POL, BNB, CRO, TRX, BASE, ARBITRUM, OPTIMISM: no source is named");
    expect(printed).toMatch(/a Worker shares its addresses[\s\S]*docs\/operations\/deploy\.md#chain-sources\n/);
    expect(status).toBe(0);
  });

  it("with an empty answer no source is chosen or tested, and the final output says that no network takes payments", async () => {
    const { printed, status } = await shop.deploy(ALL_FLAGS, ["", "y"]);
    expect([...vendors.asked, uploaded(), status]).toEqual([undefined, 0]);
    expect(printed).toContain("Takes payments now: on no network.\n");
    expect(secretsFile()).not.toContain("CHAIN_SOURCES");
  });

  it("an unknown name, or a network without sources, repeats the question", async () => {
    const { asked, printed } = await shop.deploy(ALL_FLAGS, ["ETH,DOGE", "BTC_REGTEST", "TRX", "y"]);
    expect(asked.slice(1, 3)).toEqual([
      expect.stringContaining('there is no network "DOGE": use all, none, or some of BTC, LTC,'),
      expect.stringContaining("BTC_REGTEST has no public source: it is a chain of your own machine"),
    ]);
    expect(named()).toEqual({ TRX: ["api.trongrid.io"] });
    expect(printed).toContain(
      "Where there is one source, nobody contradicts it, and quorumAboveAmount does nothing.\n",
    );
  });

  it("nothing is asked with --yes, or if the flag is given", async () => {
    expect((await shop.deploy([...ALL_FLAGS, "--yes"], [])).asked).toEqual([]);
    expect(uploaded()).toBeUndefined();
    expect((await shop.deploy(["--name", "shop", "--public-sources", "none"], ["y"])).asked).toEqual(["Go on? [y/N] "]);
    expect((await shop.deploy(["--name", "shop", "--public-sources", "ETH"], ["y"])).asked).toHaveLength(1);
    expect(named()).toEqual({ ETH });
  });

  it("nothing is written if the operator does not continue", async () => {
    const { printed } = await shop.deploy(ALL_FLAGS, ["ETH", "n"]);
    expect(printed).toMatch(/CHAIN_SOURCES, with the sources that answered[\s\S]*Nothing was made\./);
    expect(shop.account().workers).toEqual({});
  });
});

describe("without a terminal", () => {
  it("no source is chosen unless the flag names networks", async () => {
    const { printed } = await shop.deploy([...ALL_FLAGS, "--yes"]);
    expect([...vendors.asked, uploaded()]).toEqual([undefined]);
    expect(printed).toContain("--public-sources names public ones");
  });

  it("a deploy that is repeated after a failure keeps the sources that were chosen before, even if its flags no longer name them", async () => {
    shop.change({ failAt: { command: "d1 create", when: "before", message: "The service is unavailable" } });
    expect((await deployWith("ETH")).status).toBe(1);
    expect((await shop.deploy(AGAIN)).printed).toContain("Takes payments now: ETH (2 sources).\n");
    expect(named()).toEqual({ ETH });
  });

  it("`all` chooses the sources of all main networks", async () => {
    const { printed } = await deployWith("all");
    expect(Object.keys(named())).toEqual([...FIRST_NETWORKS, "BASE", "ARBITRUM", "OPTIMISM"]);
    expect(printed).not.toContain("Cannot take any yet");
    expect(String(uploaded()).length).toBeLessThan(5_000);
  });

  it("test networks can be named, each by any of its aliases", async () => {
    await deployWith("BTC_TESTNET,ltc_testnet,ETH_SEPOLIA,POLYGON_AMOY,BSC_TESTNET,CRONOS_TESTNET,TRON_NILE");
    expect(Object.values(named()).map(({ length }) => length)).toEqual([2, 1, 2, 2, 2, 1, 1]);
  });

  it.each([
    [["--public-sources", "ETH,DOGE"], '--public-sources: there is no network "DOGE"'],
    [["--public-sources", "ETH", "--keep-secrets"], "--public-sources and --keep-secrets exclude each other"],
  ])("%j are refused before anything is looked up", async (flags, text) => {
    const { status, printed, commands } = await shop.deploy([...ALL_FLAGS, "--yes", ...flags]);
    expect([status, commands]).toEqual([2, []]);
    expect(printed).toContain(text);
  });
});

describe("a source that fails its test is reported and left out", () => {
  it.each<readonly [VendorFault, string]>([
    ["dead", "it cannot be reached from here"],
    ["wrong chain", "it serves another chain"],
    ["stale", "its newest block is 540 minutes old, so it does not follow the chain"],
    [403, "it answers with status 403, as vendors do that ban an address"],
    [503, "it answers with status 503, as vendors do that ban an address"],
    [429, "it refuses: too many requests from this address"],
    ["slow", "no answer within 4 s"],
  ])("(fault: %s)", async (fault, text) => {
    for (const vendor of ["Tenderly", "mempool.space", "TronGrid"]) vendors.faults.set(vendor, fault);
    const { printed, status } = await deployWith("ETH,BTC,TRX");
    for (const label of ["ETH: Tenderly", "BTC: mempool.space", "TRX: TronGrid"])
      expect(printed).toContain(`  ${label} is left out: ${text}`);
    expect(named()).toEqual({ BTC: ["blockstream.info"], ETH: ["eth.api.onfinality.io"] });
    expect(printed).toContain("Takes payments now: BTC (1 source), ETH (1 source).\n");
    expect(printed).toContain(`  TRX: no public source passed its trial (TronGrid: ${text})\n`);
    expect(status).toBe(0);
  });

  it("if it refuses eth_getLogs, without which no token is seen", async () => {
    vendors.faults.set("OnFinality", "logs");
    const { printed } = await deployWith("BNB");
    expect(printed).toContain("BNB: OnFinality is left out: it refuses a call that is needed (error -32000)\n");
    expect(uploaded()).toBeUndefined();
  });

  it("if its test takes too long in total, even with short requests", async () => {
    shop.leave();
    shop = newOperator({ vendors: { ...vendors.edge, timeoutMs: 60_000, probeMs: 4_000 } });
    vendors.faults.set("Cronos", "slow");
    expect((await deployWith("CRO")).printed).toContain("CRO: Cronos is left out: it took more than 4 s\n");
    expect(named()).toEqual({ CRO: ["1rpc.io"] });
  });

  it("unless it fails only to return balances of recent blocks: then it is listed, with the payments that it misses", async () => {
    vendors.faults.set("Tenderly", "state");
    const { printed } = await deployWith("ETH");
    expect(printed).toMatch(/ETH: Tenderly answers: .*coins that a contract sends are not seen\n/);
    expect(named()).toEqual({ ETH });
  });
});

describe("existing sources", () => {
  const OWN = `{"ETH":[{"kind":"evm-rpc","url":"https://node.example"}]}`;

  it("are never replaced, whether they are in the secrets file or only in the Worker", async () => {
    mkdirSync(join(shop.folder, FOLDER), { recursive: true });
    writeFileSync(join(shop.folder, FOLDER, "secrets.env"), `CHAIN_SOURCES='${OWN}'`);
    const first = await deployWith("all");
    expect(first.printed).toContain("CHAIN_SOURCES is set, so --public-sources changes nothing.\n");
    expect(first.printed).toContain("Takes payments now: ETH (1 source).\n");
    expect(first.printed).not.toContain("node.example");
    writeFileSync(join(shop.folder, FOLDER, "secrets.env"), secretsFile().replace(/^CHAIN_SOURCES.*\n/m, ""));
    const again = await shop.deploy(["--name", "shop"], ["y"]);
    expect(again.printed).toMatch(/Payments: CHAIN_SOURCES is a secret of the Worker that cannot be read back\./);
    expect([uploaded(), ...vendors.asked]).toEqual([OWN]);
  });

  it("for a single network prevent new ones, even in a numbered setting; an empty setting does not", async () => {
    await shop.deploy([...ALL_FLAGS, "--yes"]);
    const file = join(shop.folder, FOLDER, "secrets.env");
    writeFileSync(file, `${secretsFile()}CHAIN_SOURCES={}\n`);
    await shop.deploy([...AGAIN, "--public-sources", "ETH"]);
    expect(secretsFile().match(/CHAIN_SOURCES/g)).toHaveLength(1);
    expect(named()).toEqual({ ETH });
    writeFileSync(file, secretsFile().replace("CHAIN_SOURCES=", "CHAIN_SOURCES_2="));
    await shop.deploy([...AGAIN, "--public-sources", "BTC"]);
    expect(secretsFile()).not.toContain("CHAIN_SOURCES=");
  });

  it("that are invalid are reported", async () => {
    mkdirSync(join(shop.folder, FOLDER), { recursive: true });
    writeFileSync(join(shop.folder, FOLDER, "secrets.env"), `CHAIN_SOURCES={"ETH":[]}\n`);
    const { printed } = await shop.deploy([...ALL_FLAGS, "--yes"]);
    expect(printed).toContain("Payments: on no network, until this is corrected: CHAIN_SOURCES of ETH must be a list");
  });

  it("stay in the Worker with --keep-secrets, and nothing is asked", async () => {
    await deployWith("ETH");
    const { asked, printed } = await shop.deploy(["--name", "shop", "--keep-secrets"], ["y"]);
    expect(asked).toHaveLength(1);
    expect(printed).toContain("cannot be read back");
    expect(named()).toEqual({ ETH });
  });
});
