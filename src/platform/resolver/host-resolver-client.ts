// Resolves a host with DNS-over-HTTPS (JSON) before a webhook is sent to it. A Worker cannot bind a request to the address that was checked, so
// the name could still change in between. Two things protect against that: `global_fetch_strictly_public`, and a platform that routes only to
// the public Internet.
import * as z from "zod";
import { type BoundedRequest, fetchPlainJson, type Outage, outage } from "../../lib/fetch-text.ts";
import { addressScope } from "../../lib/global-address.ts";
import { lazily } from "../../lib/lazily.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";

/** developers.cloudflare.com/1.1.1.1/encryption/dns-over-https/make-api-requests/dns-json */
export const CLOUDFLARE_RESOLVER_URL = "https://cloudflare-dns.com/dns-query";

const TIMEOUT_MS = 5 * SECOND_MS;
const LIMIT_BYTES = 65_536;

/** Response codes (RFC 1035 "Header section format") and record types (RFC 1035, RFC 3596). */
const NO_ERROR = 0;
const NO_SUCH_NAME = 3;
const TYPES = { A: 1, AAAA: 28 } as const;

const answer = lazily(() =>
  z.object({
    Status: z.int(),
    TC: z.boolean().optional(),
    Answer: z.array(z.object({ type: z.int(), data: z.string() })).optional(),
  }),
);

interface ResolverSettings {
  readonly fetch: BoundedRequest["fetch"];
  /** Any resolver with the JSON API, which takes `name` and `type` in the query. */
  readonly resolverUrl?: string;
  /** The time limit for each of the two queries, which run in parallel. */
  readonly timeoutMs?: number;
}

/**
 * `public`: the host has addresses, and all are global unicast. `refused`: it has no address, or one that is not global unicast. `unknown`: the
 * lookup failed; it is repeated later and never counts as permission. `why` is a clause for the user.
 */
export type Resolution =
  | { readonly kind: "public"; readonly addresses: readonly string[] }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "unknown"; readonly why: string };

/** Resolves a host given as in `EndpointUrl.host`. If one of the two responses refuses the host, the other one does not matter. */
export async function resolveHost(settings: ResolverSettings, host: string): Promise<Resolution> {
  const asked = await Promise.all([ask(settings, host, "A"), ask(settings, host, "AAAA")]);
  const addresses = [...new Set(asked.flatMap((each) => (each.ok ? each.value : [])))];
  const local = addresses.find((address) => addressScope(address) === "special");
  if (local !== undefined)
    return { kind: "refused", why: `the host resolves to ${local}, which is not a public address` };
  for (const each of asked) {
    if (!each.ok) return { kind: "unknown", why: `the host could not be resolved (${each.error.kind})` };
  }
  return addresses.length > 0 ? { kind: "public", addresses } : { kind: "refused", why: "the host does not resolve" };
}

async function ask(
  settings: ResolverSettings,
  host: string,
  type: keyof typeof TYPES,
): Promise<Result<readonly string[], Outage>> {
  const { fetch, resolverUrl = CLOUDFLARE_RESOLVER_URL, timeoutMs = TIMEOUT_MS } = settings;
  const url = new URL(resolverUrl);
  url.searchParams.set("name", host);
  url.searchParams.set("type", type);
  const headers = { accept: "application/dns-json" };
  const json = await fetchPlainJson({ fetch, url: url.href, timeoutMs, limitBytes: LIMIT_BYTES, headers });
  return json.ok ? addressesIn(json.value) : json;
}

/** The addresses in a response, after any chain of aliases. Empty if the name, or a record of this type, does not exist. */
function addressesIn(json: unknown): Result<readonly string[], Outage> {
  const parsed = answer().safeParse(json);
  if (!parsed.success) return err(outage("UNEXPECTED_SHAPE", z.prettifyError(parsed.error)));
  const { Status, TC, Answer = [] } = parsed.data;
  if (Status !== NO_ERROR && Status !== NO_SUCH_NAME) return err(outage("REFUSED", `response code ${Status}`));
  if (TC === true) return err(outage("TRUNCATED", "the response is truncated"));
  const addresses = Answer.filter(({ type }) => type === TYPES.A || type === TYPES.AAAA).map(({ data }) => data);
  return addresses.every((address) => addressScope(address) !== undefined)
    ? ok(addresses)
    : err(outage("UNEXPECTED_SHAPE", "an invalid address"));
}
