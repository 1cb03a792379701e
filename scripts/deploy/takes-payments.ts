// A deploy's final message about payments: the networks on which they can be accepted now, those on which they cannot and why, and how public
// sources affect speed.
import { NETWORKS } from "../../src/chains/registry/networks.ts";
import { type ChainSources, parseChainSources } from "../../src/chains/sources/chain-sources.ts";
import type { ChosenSources } from "./choose-sources.ts";
import { PUBLIC_SOURCES } from "./public-sources.ts";

type Settings = Readonly<Record<string, string | undefined>>;

const PART = /^CHAIN_SOURCES(_[2-9])?$/;

/** Names of source settings that are not empty. */
function sourceSettings(settings: Settings): readonly string[] {
  return Object.entries(settings).flatMap(([name, value = ""]) =>
    PART.test(name) && !["", "{}"].includes(value.trim()) ? [name] : [],
  );
}

export interface Named {
  /** The settings in the secrets file. */
  readonly settings: Settings;
  /** Names of the secrets that the Worker had before; undefined without a Worker. */
  readonly ofWorker: readonly string[] | undefined;
  /** Whether the deploy leaves out the secrets file. */
  readonly keepsSecrets: boolean;
}

/** Whether sources are already configured, here or in the Worker. */
export function namesSources({ settings, ofWorker = [] }: Named): boolean {
  return sourceSettings(settings).length > 0 || ofWorker.some((name) => PART.test(name));
}

const SLOW = `Public sources refuse who asks too much, by address, and a Worker shares its addresses with others. One that refuses (429, 403, 503) rests, at first for seconds
and at most for 10 minutes, and the next is asked; where none is left, a payment is seen that much later; for six hours no invoice expires meanwhile. Better sources: docs/operations/deploy.md#chain-sources
From an amount on two sources must agree, if each merchant's settings say so: quorumAboveAmount, such as 100. It is off until it is set.
`;

const ALONE = "Where there is one source, nobody contradicts it, and quorumAboveAmount does nothing.\n";

export function paymentsText(named: Named, { failures }: ChosenSources, origin: string): string {
  const { settings, ofWorker = [], keepsSecrets } = named;
  const here = sourceSettings(settings);
  const unread = ofWorker.filter((name) => PART.test(name) && (keepsSecrets || !here.includes(name)));
  if (unread.length > 0)
    return `\nPayments: ${unread.join(", ")} is a secret of the Worker that cannot be read back. ${origin}/healthz names the networks that it watches.\n`;
  const parsed = parseChainSources(keepsSecrets ? {} : settings);
  if (!parsed.ok) return `\nPayments: on no network, until this is corrected: ${parsed.error}.\n`;
  const sources = parsed.value;
  const can = [...sources].map(
    ([name, list]) => `${name} (${list.length === 1 ? "1 source" : `${list.length} sources`})`,
  );
  return [
    `\nTakes payments now: ${can.length === 0 ? "on no network" : can.join(", ")}.\n`,
    ...withoutText(sources, failures),
    hasPublic(sources) ? SLOW : "",
    [...sources.values()].some(({ length }) => length === 1) ? ALONE : "",
  ].join("");
}

/** Main networks without a source, and requested test networks without one. */
function withoutText(sources: ChainSources, failures: ChosenSources["failures"]): readonly string[] {
  const without = NETWORKS.filter(({ name, isTest }) => !sources.has(name) && (!isTest || failures.has(name)));
  const unnamed = without.flatMap(({ name }) => (failures.has(name) ? [] : [name]));
  const lines = without.flatMap(({ name }) => {
    const reasons = failures.get(name);
    return reasons === undefined ? [] : [`  ${name}: no public source passed its trial (${reasons.join("; ")})\n`];
  });
  if (unnamed.length === 0 && lines.length === 0) return [];
  const hint = sources.size === 0 ? " (--public-sources names public ones)" : "";
  const none = unnamed.length === 0 ? [] : [`  ${unnamed.join(", ")}: no source is named${hint}\n`];
  return ["Cannot take any yet:\n", ...none, ...lines];
}

function hasPublic(sources: ChainSources): boolean {
  const urls = new Set([...sources.values()].flat().map(({ url }) => url));
  return PUBLIC_SOURCES.some(({ url }) => urls.has(url));
}
