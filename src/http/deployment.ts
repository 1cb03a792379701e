// What the operator configured, read from the environment once per request; a wrong value is a bug of the deployment and says so.

export interface Deployment {
  /** Only `ENVIRONMENT=development` opens what must never be open in production (decisions 1 "Variables"). */
  readonly isDevelopment: boolean;
  /** Origin of links to our own pages; never the Host header. */
  readonly publicUrl: string;
  /** Canonical names of the networks that have a chain source. */
  readonly watchedNetworks: ReadonlySet<string>;
}

export function deploymentOf(env: { ENVIRONMENT?: string; PUBLIC_URL?: string; CHAIN_SOURCES?: string }): Deployment {
  return {
    isDevelopment: env.ENVIRONMENT === "development",
    publicUrl: (env.PUBLIC_URL ?? "").replace(/\/+$/, ""),
    watchedNetworks: new Set(networksIn(env.CHAIN_SOURCES)),
  };
}

/** The keys of `CHAIN_SOURCES`, JSON of network to a list of sources. */
function networksIn(chainSources: string | undefined): readonly string[] {
  if (chainSources === undefined || chainSources === "") return [];
  const parsed: unknown = JSON.parse(chainSources);
  if (typeof parsed !== "object" || parsed === null) throw new Error("CHAIN_SOURCES must be a JSON object");
  return Object.keys(parsed);
}
