// Opens Durable Objects. An object stays forever where it was first opened, and its hint counts only then, so every object of a deployment is opened here, with
// the deployment's hint from its first call on.
import { err, ok, type Result } from "./result.ts";

/** As https://developers.cloudflare.com/durable-objects/reference/data-location/ lists them. */
const LOCATION_HINTS = ["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"] as const;
export type LocationHint = (typeof LOCATION_HINTS)[number];

/** Parses LOCATION_HINT; undefined if it is empty: then each object lives near its first caller. The error is a sentence for the operator. */
export function parseLocationHint(text: string | undefined): Result<LocationHint | undefined, string> {
  const name = (text ?? "").trim();
  const hint = LOCATION_HINTS.find((each) => each === name);
  if (hint !== undefined || name === "") return ok(hint);
  return err(`LOCATION_HINT is unknown: use one of ${LOCATION_HINTS.join(", ")}, or leave it empty`);
}

/** The part of a namespace that is used; a `DurableObjectNamespace` is assignable to it. */
interface ObjectNamespace<Stub> {
  getByName(name: string, options?: { readonly locationHint?: LocationHint }): Stub;
}

/** A new stub of the object with this name. An invalid hint counts as none; `/healthz` reports it. */
export function objectOf<Stub>(env: Pick<Env, "LOCATION_HINT">, namespace: ObjectNamespace<Stub>, name: string): Stub {
  const hint = parseLocationHint(env.LOCATION_HINT);
  if (!hint.ok || hint.value === undefined) return namespace.getByName(name);
  return namespace.getByName(name, { locationHint: hint.value });
}

const STAND_IN = "for:";

/**
 * The object that stands in for this one while that still runs the previous release: a new object runs this release. Its name sorts before all ids, so that a
 * reader of both sees the earlier items first.
 */
export function standInOf(name: string): string {
  return `${STAND_IN}${name}`;
}

/** The object that the one with this name stands in for; itself, if it is not a stand-in. */
export function ownerOf(name: string): string {
  return name.startsWith(STAND_IN) ? name.slice(STAND_IN.length) : name;
}
