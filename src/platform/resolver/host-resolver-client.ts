// What a host resolves to, asked over DNS-over-HTTPS in JSON before an endpoint is delivered to. A Worker
// cannot bind a request to the address that was checked, so a name could still change in between: against that there are
// `global_fetch_strictly_public` and a platform that routes to the public Internet alone.
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

export interface ResolverSettings {
  readonly fetch: BoundedRequest["fetch"];
  /** Any resolver of the JSON form, `name` and `type` in the query. */
  readonly resolverUrl?: string;
  /** For each of the two questions, which are asked at the same time. */
  readonly timeoutMs?: number;
}

/**
 * `public`: every address of the host, one at least, is global unicast. `refused`: it has none, or one that is not. `unknown`: the lookup
 * failed; it is tried again later, and is never a permission. `why` is a clause to show.
 */
export type Resolution =
  | { readonly kind: "public"; readonly addresses: readonly string[] }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "unknown"; readonly why: string };

/** Resolves a host as `EndpointUrl.host` gives it. A refusal by one of the two answers holds whatever became of the other. */
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

/** Addresses of either family at the end of whatever chain of aliases. None where the name, or a record of the type, is not there. */
function addressesIn(json: unknown): Result<readonly string[], Outage> {
  const parsed = answer().safeParse(json);
  if (!parsed.success) return err(outage("UNEXPECTED_SHAPE", z.prettifyError(parsed.error)));
  const { Status, TC, Answer = [] } = parsed.data;
  if (Status !== NO_ERROR && Status !== NO_SUCH_NAME) return err(outage("REFUSED", `response code ${Status}`));
  if (TC === true) return err(outage("TRUNCATED", "only a part of the answer"));
  const addresses = Answer.filter(({ type }) => type === TYPES.A || type === TYPES.AAAA).map(({ data }) => data);
  return addresses.every((address) => addressScope(address) !== undefined)
    ? ok(addresses)
    : err(outage("UNEXPECTED_SHAPE", "an address that is none"));
}
