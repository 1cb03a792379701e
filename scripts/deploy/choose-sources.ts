// Chooses the networks that a new deployment watches with public sources, by the flag or the operator's answer; by default none. Each source is
// tried before it is used, and one that fails is reported and left out.
import { isTestNetwork, type NetworkName } from "../../src/chains/registry/networks.ts";
import { type Ask, askUntilValid } from "./ask.ts";
import { probeSource, type VendorEdge } from "./probe-source.ts";
import { OFFERED, type PublicSource, publicSourcesOf, readPublicSources, settingOf } from "./public-sources.ts";

export interface ChosenSources {
  /** CHAIN_SOURCES with the sources that answered; undefined if there are none. */
  readonly setting: string | undefined;
  /** Why public sources were left out, by network. */
  readonly failures: ReadonlyMap<NetworkName, readonly string[]>;
}

export const NO_SOURCES: ChosenSources = { setting: undefined, failures: new Map() };

const EXPLANATION = `
Nothing can be paid before a source of each chain is named, and this deployment has none. Until you have better ones, public sources that need no account can be named now.
Whoever runs one learns the addresses that you watch, and may be wrong or lie about what was paid. Each refuses who asks too much, so that payments may be seen minutes later.
They are untried: each is tried from here before it is named. Limits, and what a vendor learns: docs/operations/public-sources.md
`;

function offer(name: NetworkName): string {
  const sources = publicSourcesOf(name).map(
    ({ vendor, document, documentOf, readOn }) =>
      `${vendor} (${documentOf === vendor ? "" : `a page of ${documentOf}: `}${document}, read ${readOn})`,
  );
  return `  ${name.padEnd(4)}  ${sources.join("\n        ")}\n`;
}

export async function askPublicSources(ask: Ask, print: (text: string) => void): Promise<readonly NetworkName[]> {
  const tests = OFFERED.filter(isTestNetwork).join(", ");
  const offers = OFFERED.filter((name) => !isTestNetwork(name)).map(offer);
  print(`${EXPLANATION}${offers.join("")}  and the test networks ${tests}\n`);
  return askUntilValid(
    ask,
    "Networks to watch with public sources, such as ETH,BTC, or all (empty for none): ",
    readPublicSources,
  );
}

/** Tries the networks concurrently, and the sources of each network one after the other. */
export async function trySources(
  names: readonly NetworkName[],
  edge: VendorEdge,
  { print, nowMs }: { readonly print: (text: string) => void; readonly nowMs: () => number },
): Promise<ChosenSources> {
  if (names.length === 0) return NO_SOURCES;
  print("\nTrying public sources\n");
  const tried = await Promise.all(names.map((name) => tryNetwork(name, edge, nowMs)));
  for (const { lines } of tried) for (const line of lines) print(`  ${line}\n`);
  const good = tried.flatMap(({ good }) => good);
  return {
    setting: good.length === 0 ? undefined : settingOf(good),
    failures: new Map(tried.map(({ name, failures }) => [name, failures])),
  };
}

async function tryNetwork(name: NetworkName, edge: VendorEdge, nowMs: () => number) {
  const good: PublicSource[] = [];
  const failures: string[] = [];
  const lines: string[] = [];
  for (const source of publicSourcesOf(name)) {
    const probed = await probeSource(source, edge, nowMs);
    const label = `${name}: ${source.vendor}`;
    if (probed.ok) {
      const { height, ageSeconds, lacksBalances } = probed.value;
      const gap = lacksBalances
        ? "; it has no balances of recent blocks, so coins that a contract sends are not seen"
        : "";
      lines.push(`${label} answers: block ${height}, ${ageSeconds} s old${gap}`);
      good.push(source);
    } else {
      lines.push(`${label} is left out: ${probed.error}`);
      failures.push(`${source.vendor}: ${probed.error}`);
    }
  }
  return { name, good, failures, lines };
}
