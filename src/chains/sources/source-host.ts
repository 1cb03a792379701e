// The host of a source of chain data as operators see it, and the key of its stored record. Neither contains anything that may be a secret.
import { sha256Hex } from "../../lib/bytes.ts";
import type { ChainSource } from "./chain-sources.ts";
import { sourceName } from "./source-state.ts";

/**
 * The key of a source's record in storage: its position, its kind and a digest of the host that operators see. So a source on a different host does
 * not get the record of the source that it replaces, and no part of a URL is stored.
 */
export function recordKey(place: number, source: Pick<ChainSource, "kind" | "url">): string {
  return `${sourceName(place, source.kind)} ${sha256Hex(shownHost(source.url)).slice(0, 8)}`;
}

/** A label of a host that may be a vendor's key, such as Rivet's: it is long and mixes letters with digits. */
const KEY_LIKE = /^(?=.*\d)(?=.*[a-z])(?:[a-z0-9]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** The host of a source's URL with its port, as operators see it: without path and query, and without labels that look like keys. */
export function shownHost(url: string): string {
  const { hostname, port } = new URL(url);
  const labels = hostname.split(".").map((label) => (KEY_LIKE.test(label) ? "…" : label));
  return `${labels.join(".")}${port === "" ? "" : `:${port}`}`;
}
