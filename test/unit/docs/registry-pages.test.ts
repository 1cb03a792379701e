// Documents, and tests with real nodes and servers, must name the same networks and coins as the registry.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CRYPTO_CODES, isTestNetwork, NETWORKS, type Network } from "../../../src/chains/registry/networks.ts";

const MAIN = NETWORKS.filter(({ name }) => !isTestNetwork(name));
const OPEN = NETWORKS.filter(({ isRegtest }) => !isRegtest);
const textOf = (path: string) => readFileSync(path, "utf8");
const chains = textOf("docs/design/chains.md");

/** The cells of a table below its header, without code marks and bold type. */
function rowsBelow(text: string, header: string): readonly (readonly string[])[] {
  const [, rest = ""] = text.split(`\n${header}\n`);
  const [table = ""] = rest.split(/\n(?!\|)/);
  const lines = table.split("\n").slice(1);
  return lines.map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.replaceAll(/[`*]/g, "").trim()),
  );
}

const tokensText = ({ assets }: Network) =>
  assets
    .slice(1)
    .map(({ code, decimals }) => `${code} ${decimals}`)
    .join(", ");

describe("chains.md", () => {
  it("has the parameters of every main network", () => {
    const header =
      "| network | block | final by | reorg window | read again at each pass | recommended | pause between passes |";
    const rows = rowsBelow(chains, header).flatMap(([names = "", block, , window, overlap, recommended, pause]) =>
      names
        .split(", ")
        .map((name) => [name, block, window, overlap, recommended, pause].map((cell) => cell?.replace(" blocks", ""))),
    );
    const figures = MAIN.map((each) => [
      each.name,
      `${each.blockSeconds} s`,
      each.reorgWindowBlocks.toLocaleString("en"),
      String(each.overlapBlocks),
      String(each.recommendedConfirmations),
      `${each.pollSeconds} s`,
    ]);
    expect(rows.toSorted()).toEqual(figures.toSorted());
  });

  it("has the tokens of every network with their decimals", () => {
    const rows = rowsBelow(chains, "| network | tokens (decimals) |").flatMap(([names = "", tokens = ""]) =>
      names.split(", ").map((name) => `${name}: ${tokens === "only the coin" ? "" : tokens}`),
    );
    const withTokens = OPEN.filter(({ family }) => family !== "bitcoin");
    expect(rows.toSorted()).toEqual(withTokens.map((each) => `${each.name}: ${tokensText(each)}`).toSorted());
  });

  it("has the finest grain of every coin", () => {
    const rows = rowsBelow(chains, "| asset | finest grain | tried first |").flatMap(([codes = "", finest = ""]) =>
      codes.split(/, /).flatMap((code) => (/^[A-Z]+$/.test(code) ? [[code, finest]] : [])),
    );
    const grains = NETWORKS.flatMap(({ assets }) => assets).map(({ code, decimals, grainUnits }) => [
      code,
      `10^-${decimals - (grainUnits.toString().length - 1)}`,
    ]);
    const distinct = new Map(grains.map(([code = "", grain = ""]) => [code, grain]));
    expect(rows.toSorted()).toEqual([...distinct].toSorted());
  });
});

it("decisions.md has the names and aliases of every network", () => {
  const rows = rowsBelow(textOf("docs/design/decisions.md"), "| Network | Aliases | Test network | Aliases |");
  const named = rows.flatMap(([name, aliases, test = "", ofTest]) => [
    `${name}: ${aliases}`,
    ...(test === "" ? [] : [`${test}: ${ofTest}`]),
  ]);
  expect(named.toSorted()).toEqual(OPEN.map(({ name, aliases }) => `${name}: ${aliases.join(", ")}`).toSorted());
});

it("the guide on sources lists every main network, and says which of them find payments from contracts through balances", () => {
  const page = textOf("docs/guides/watching-chains.md");
  const rows = rowsBelow(page, "| networks | `kind` | what it is | what it needs |");
  const named = rows.flatMap(([names = ""]) => (names === "" ? [] : names.split(", ")));
  expect(named.toSorted()).toEqual(MAIN.map(({ name }) => String(name)).toSorted());
  const [, byBalance = ""] = /^- \*\*([A-Z, ]+):\*\* they are found by the balance/m.exec(page) ?? [];
  const withBalances = MAIN.filter(({ family, nativeBy }) => family === "evm" && nativeBy !== "logs");
  expect(byBalance.split(", ").toSorted()).toEqual(withBalances.map(({ name }) => String(name)).toSorted());
});

it("the README names every main network", () => {
  const [line = ""] = textOf("README.md").match(/^- \*\*Chains\.\*\* .*$/m) ?? [];
  const isNamed = ({ name, displayName }: Network) =>
    new RegExp(`\\b(${name}|${displayName.replace(/ \(.*/, "")})\\b`).test(line);
  expect(MAIN.filter((each) => !isNamed(each)).map(({ name }) => name)).toEqual([]);
});

it("the guide on invoices states the right number of cryptocurrencies", () => {
  expect(textOf("docs/guides/invoices.md")).toContain(`one of the ${CRYPTO_CODES.length} cryptocurrencies`);
});

it("the contract tests price an invoice in every coin", () => {
  const [, list = ""] = /const CRYPTO = \[([^\]]*)\]/.exec(textOf("test/contract/2.2-amounts.test.ts")) ?? [];
  const codes = [...list.matchAll(/"(\w+)"/g)].map(([, code]) => code);
  expect(codes.toSorted()).toEqual(CRYPTO_CODES.toSorted());
});

it("the chain tests pay on every main EVM network, with anvil", () => {
  const [, list = ""] = /^const NAMES = \[([^\]]*)\]/m.exec(textOf("test/chain/detection/evm-networks.test.ts")) ?? [];
  const names = [...list.matchAll(/"(\w+)"/g)].map(([, name]) => name);
  const evm = MAIN.filter(({ family }) => family === "evm");
  expect(names.toSorted()).toEqual(evm.map(({ name }) => String(name)).toSorted());
});
