// Searches an uploaded bundle for traces of the twin. Production code must not contain a switch for the twin's faults and clocks. So no name that the
// twin's sources export, or set as a binding or variable, may occur in it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Variables and secrets that the twin sets and that every deployment may have: those in `wrangler.toml` and in our documents. */
const OF_DEPLOYMENTS = [
  "CHAIN_SOURCES",
  "LOCATION_HINT",
  "MAIL_FROM",
  "MAIL_PROVIDER",
  "POLL_SECONDS",
  "PUBLIC_URL",
  "RATE_LIMIT_PER_MINUTE",
  "SIGN_IN_PROVIDERS",
] as const;
/** Names that the service or the platform uses for something else. */
const OF_OTHERS = [
  "API",
  "AWAITING_PAYMENT",
  "CANCELLED",
  "Client",
  "ETH",
  "EXPIRED",
  "HELP",
  "INVITATION",
  "PAID",
  "refusalOf",
  "setTimeout",
  "signIn",
  "usedBy",
] as const;
/** The twin's names that a bundle may contain. */
export const SHARED_NAMES: readonly string[] = [...OF_DEPLOYMENTS, ...OF_OTHERS];

const EXPORTED = /^\s*export (?:async )?(?:const|let|function|class) (?:\[([^\]]*)\]|\{([^}]*)\}|([\w$]+))/gm;
const RENAMED = /^\s*export \{([^}]*)\}/gm;
/** Members in capitals, as bindings and variables are named. */
const BINDINGS = [/\benv(?:\.|\[")([A-Za-z_]\w*)/g, /\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)["']?\s*:/g] as const;
/** Names of modules, headers and entry points. */
const OWN = /["'`/]((?:x-)?[Tt]win[-A-Z][\w-]*)/g;
const NAME = /[A-Za-z_$][\w$]*/g;
/** Plain English words, such as "good", also occur in other texts, so they identify nothing. */
const PLAIN = /^[a-z]+$|^\W/;

/** The names by which the twin could be recognized, from its sources. */
export function namesIn(sources: readonly string[]): readonly string[] {
  const names = new Set<string>();
  for (const source of sources) {
    for (const [, list, members, name] of source.matchAll(EXPORTED))
      for (const [found] of (list ?? members ?? name ?? "").matchAll(NAME)) names.add(found);
    for (const [, members = ""] of source.matchAll(RENAMED))
      for (const member of members.split(","))
        names.add(
          member
            .trim()
            .split(/\s+as\s+/)
            .at(-1) ?? "",
        );
    for (const pattern of [...BINDINGS, OWN]) for (const [, name = ""] of source.matchAll(pattern)) names.add(name);
  }
  return [...names].filter((name) => name.length > 2 && !PLAIN.test(name)).toSorted();
}

export const twinSources = (folder = import.meta.dirname) =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(join(folder, file), "utf8"));

/** The twin's names that occur in a bundle as whole words, except shared names. */
export function tracesIn(bundle: string, names: readonly string[]): readonly string[] {
  const words = new Set(
    [...bundle.matchAll(/[A-Za-z_$][\w$]*(?:-[\w$]+)*/g)].flatMap(([word]) => [word, ...word.split("-")]),
  );
  return names.filter((name) => words.has(name) && !SHARED_NAMES.includes(name));
}
