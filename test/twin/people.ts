// Members of a shop while it sells. They read invoices in the console, change a setting, and give the shop's server a new key.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { ANSWERED_WITHIN_MS, type Client } from "./client.ts";
import { jsonIn } from "./json.ts";

const LIST = z.object({ data: z.array(z.object({ id: z.string(), name: z.string() })) });
const SETTINGS = z.object({ maxActiveInvoices: z.number() });
const SECRET = z.object({ secret: z.string() });

type Headers = Readonly<Record<string, string>>;

export interface Workplace {
  readonly merchantId: string;
  /** The headers that the shop's server sends; its key may be replaced. */
  headers: Headers;
}

const rootOf = ({ merchantId }: Workplace) => `/api/v1/merchants/merchant/${merchantId}`;

/** A limit that even a long day does not reach, because the limit is not under test. */
const MANY = 900_000;

/** Lists the newest invoices, searches, opens one, and changes a setting; throws on a wrong answer. `session` belongs to a member. */
export async function lookAround(client: Client, place: Workplace, session: Headers): Promise<void> {
  const root = rootOf(place);
  const get = (route: string, path: string) =>
    client.good({ route, path: `${root}${path}`, method: "GET", headers: session });
  await get("console: list", "/invoices?limit=20");
  const found = await get("console: search", "/invoices?limit=20&search=Order");
  const { data } = jsonIn(LIST, found.text);
  if (data.some(({ name }) => name !== "Order")) throw new Error("a search found what it was not asked for");
  const [first] = data;
  if (first !== undefined) await get("console: open", `/invoices/${first.id}`);
  const body = { maxActiveInvoices: MANY + Math.floor(Math.random() * 1_000) };
  const call = { route: "console: settings", path: `${root}/settings`, method: "PATCH", headers: session, body };
  const changed = jsonIn(SETTINGS, (await client.good(call)).text);
  if (changed.maxActiveInvoices !== body.maxActiveInvoices) throw new Error("a setting was not changed");
}

/** Creates a key, has the shop's server use it, and deletes the old one once no call with it is pending. */
export async function changeKey(
  client: Client,
  place: Workplace,
  session: Headers,
  permissions: readonly string[],
): Promise<void> {
  const [root, old] = [rootOf(place), place.headers];
  const keys = { path: `${root}/api-keys`, headers: { ...session, "idempotency-key": randomBytes(8).toString("hex") } };
  const body = { name: "server, second", kind: "SECRET", permissions };
  const made = await client.good({ route: "POST /api-keys", method: "POST", ...keys, body });
  place.headers = { "x-api-key": jsonIn(SECRET, made.text).secret };
  await client.good({ route: "new key", path: `${root}/invoices?limit=1`, method: "GET", headers: place.headers });
  while (client.open(old) > 0) await sleep(50);
  const listed = await client.good({ route: "GET /api-keys", path: keys.path, method: "GET", headers: session });
  const { data } = jsonIn(LIST, listed.text);
  const before = data.find(({ name }) => name === "server");
  if (before === undefined) throw new Error("the old key is not listed");
  const deleting = {
    route: "DELETE /api-keys/:id",
    path: `${keys.path}/${before.id}`,
    method: "DELETE",
    headers: session,
  };
  // The answer to the first attempt may have been lost.
  await answered(client, deleting, [204, 404]);
  await answered(client, { route: "old key", path: `${root}/invoices?limit=1`, method: "GET", headers: old }, [401]);
}

/** Repeats the call after a fault until it has one of these statuses. Throws for any other status, and for a fault that persists. */
async function answered(
  client: Client,
  call: Parameters<Client["once"]>[0],
  statuses: readonly number[],
): Promise<void> {
  for (const lateMs = Date.now() + ANSWERED_WITHIN_MS; ; ) {
    const { status, text } = await client.once(call);
    if (statuses.includes(status)) return;
    if (status < 500 || Date.now() > lateMs)
      throw new Error(`${call.route}: ${status} ${text.slice(0, 300)}, and not ${statuses}`);
    await sleep(500);
  }
}
