// What the operator configured, read from the environment; a wrong value is a bug of the deployment and says so.

/** Only `ENVIRONMENT=development` opens what must never be open in production (decisions 1 "Variables"). */
export function isDevelopment(env: Pick<Env, "ENVIRONMENT">): boolean {
  return env.ENVIRONMENT === "development";
}

/** Origin of links to our own pages, without a slash at its end; never the Host header. */
export function publicUrl(env: Pick<Env, "PUBLIC_URL">): string {
  return env.PUBLIC_URL.replace(/\/+$/, "");
}

/** Canonical names of the networks that have a chain source: the keys of `CHAIN_SOURCES`, JSON of network to a list of sources. */
export function watchedNetworks(env: Pick<Env, "CHAIN_SOURCES">): ReadonlySet<string> {
  const parsed: unknown = JSON.parse(env.CHAIN_SOURCES || "{}");
  if (typeof parsed !== "object" || parsed === null) throw new Error("CHAIN_SOURCES must be a JSON object");
  return new Set(Object.keys(parsed));
}
