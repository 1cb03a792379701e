// Opens Durable Objects. An object stays forever at the location where it was first opened, and only the first call's hint counts. So every object in
// a deployment is opened here, always with the deployment's hint.
import { err, ok, type Result } from "./result.ts";

/** The hints that https://developers.cloudflare.com/durable-objects/reference/data-location/ lists. */
const LOCATION_HINTS = ["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"] as const;
export type LocationHint = (typeof LOCATION_HINTS)[number];

/** Parses LOCATION_HINT; undefined if it is empty. Each object then lives near its first caller. The error is a sentence for the operator. */
export function parseLocationHint(text: string | undefined): Result<LocationHint | undefined, string> {
  const name = (text ?? "").trim();
  const hint = LOCATION_HINTS.find((each) => each === name);
  if (hint !== undefined || name === "") return ok(hint);
  return err(`LOCATION_HINT is unknown: use one of ${LOCATION_HINTS.join(", ")}, or leave it empty`);
}

/** The part of a namespace that we use; a `DurableObjectNamespace` is assignable to it. */
interface ObjectNamespace<Stub> {
  getByName(name: string, options?: { readonly locationHint?: LocationHint }): Stub;
}

/** A new stub for the object with this name. An invalid hint is ignored; `/healthz` reports it. */
export function objectOf<Stub>(env: Pick<Env, "LOCATION_HINT">, namespace: ObjectNamespace<Stub>, name: string): Stub {
  const hint = parseLocationHint(env.LOCATION_HINT);
  if (!hint.ok || hint.value === undefined) return namespace.getByName(name);
  return namespace.getByName(name, { locationHint: hint.value });
}

const STAND_IN = "for:";

/**
 * The name of a stand-in for the object `name`. The stand-in is used while the object still runs the previous release, because a new object runs the
 * current one. Its name sorts before all ids, so that a reader of both objects sees the earlier items first.
 */
export function standInOf(name: string): string {
  return `${STAND_IN}${name}`;
}

/** The name of the object that this stand-in replaces; any other name is returned unchanged. */
export function ownerOf(name: string): string {
  return name.startsWith(STAND_IN) ? name.slice(STAND_IN.length) : name;
}
