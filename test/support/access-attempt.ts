// Requests to a route for the access tests: with every kind of invalid body, and with ids that do not exist.
import { SPECS } from "../../src/app/app.ts";
import type { RouteSpec } from "../../src/platform/http/route.ts";
import { type Answer, type Ask, send } from "./access.ts";

export const UNKNOWN_ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

const UNKNOWN: Readonly<Record<string, string>> = {
  merchantId: `mer_${UNKNOWN_ULID}`,
  walletId: `wal_${UNKNOWN_ULID}`,
  invoiceId: `inv_${UNKNOWN_ULID}`,
  paymentId: `pay_${UNKNOWN_ULID}`,
  productId: `prd_${UNKNOWN_ULID}`,
  customerId: `cus_${UNKNOWN_ULID}`,
  apiKeyId: `key_${UNKNOWN_ULID}`,
  eventId: `evt_${UNKNOWN_ULID}`,
  webhookId: `whk_${UNKNOWN_ULID}`,
  deliveryId: `dlv_${UNKNOWN_ULID}`,
  memberId: `mem_${UNKNOWN_ULID}`,
  invitationId: `tin_${UNKNOWN_ULID}`,
  sessionId: `ses_${UNKNOWN_ULID}`,
  passkeyId: `pky_${UNKNOWN_ULID}`,
  userId: `usr_${UNKNOWN_ULID}`,
  provider: "google",
  subject: "nobody",
  network: "NONE",
  findingId: `rfd_${UNKNOWN_ULID}`,
  name: "0".repeat(64),
};

export const nameOf = (spec: RouteSpec) => `${spec.method} ${spec.path}`;

export function specNamed(name: string): RouteSpec {
  const spec = SPECS.find((each) => nameOf(each) === name);
  if (spec === undefined) throw new Error(`${name} is not mounted`);
  return spec;
}

/** The route's path with the ids in `given`. A missing one is replaced by an id that does not exist. */
export function pathOf(spec: RouteSpec, given: Readonly<Record<string, string>> = {}): string {
  return spec.path.replace(/:(\w+)/g, (_, name: string) => {
    const value = given[name] ?? UNKNOWN[name];
    if (value === undefined) throw new Error(`no value for :${name} of ${spec.path}`);
    return value;
  });
}

/** Every kind of invalid body. A caller without access must not learn what is wrong with it. */
export const WRONG_BODIES: readonly Pick<Ask, "body" | "headers">[] = [
  { body: {} },
  { body: "{" },
  { body: "x", headers: { "content-type": "text/plain" } },
  { body: `"${"x".repeat(65_536)}"` },
];

/** All responses to one caller on one route. */
export async function attempt(
  spec: RouteSpec,
  given: Readonly<Record<string, string>>,
  ask: Ask,
): Promise<readonly Answer[]> {
  const { method } = spec;
  const asks: readonly Ask[] = method === "GET" ? [{}] : WRONG_BODIES;
  return Promise.all(
    asks.map((each) =>
      send(pathOf(spec, given), { method, ...each, ...ask, headers: { ...each.headers, ...ask.headers } }),
    ),
  );
}
