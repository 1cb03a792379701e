// Opens a shop of a day: a merchant, its server's key, a wallet for one token, and an endpoint for every event from then on.
import { randomBytes } from "node:crypto";
import * as z from "zod";
import { keyPermissionName, SECRET_KEY_PERMISSIONS, WEAKEN } from "../../src/accounts/roles/permissions.ts";
import { assetOn } from "../../src/chains/registry/networks.ts";
import { network } from "../support/named-network.ts";
import type { Shop } from "./book.ts";
import type { Client } from "./client.ts";
import type { World } from "./internet.ts";
import { jsonIn } from "./json.ts";

/** Permissions that the previous release supports too. */
export const KEY_PERMISSIONS = SECRET_KEY_PERMISSIONS.filter((each) => each !== WEAKEN).map(keyPermissionName);
const MANNERS = ["good", "slow", "failing"] as const;
/** The token that the shops accept. */
export const PAID_IN = "USDT";
export const TOKEN = tokenOf(PAID_IN);

function tokenOf(code: string): { readonly contract: string; readonly decimals: number } {
  const { contract, decimals } = assetOn(network("ETH"), code) ?? {};
  if (contract == null || decimals === undefined) throw new Error(`${code} is no token`);
  return { contract, decimals };
}

const MERCHANT = z.object({ id: z.string() });
const SECRET = z.object({ secret: z.string() });

export interface Opening {
  readonly client: Client;
  readonly world: World;
  /** The headers of a user who may create merchants. */
  readonly session: Readonly<Record<string, string>>;
}

/** `isWatched`: whether the shop has an endpoint for every event. */
export async function openShop(
  { client, world, session }: Opening,
  { nth, isWatched }: { readonly nth: number; readonly isWatched: boolean },
): Promise<Shop> {
  const post = async (route: string, path: string, headers: Shop["headers"], body: unknown) =>
    (await client.good({ route: `POST ${route}`, path, method: "POST", headers, body })).text;
  const made = await post("/merchants", "/api/v1/merchants", session, { name: `Corner shop ${nth}` });
  const merchantId = jsonIn(MERCHANT, made).id;
  const root = `/api/v1/merchants/merchant/${merchantId}`;
  const receiver = world.receiver(MANNERS[nth % MANNERS.length] ?? "good");
  const key = await post("/api-keys", `${root}/api-keys`, session, {
    name: "server",
    kind: "SECRET",
    permissions: KEY_PERMISSIONS,
  });
  const headers = { "x-api-key": jsonIn(SECRET, key).secret };
  await post("/wallets", `${root}/wallets`, headers, {
    walletType: "DIRECT_WALLET",
    cryptocurrency: PAID_IN,
    network: "ETH",
    address: `0x${randomBytes(20).toString("hex")}`,
    requiredConfirmations: 1,
  });
  if (isWatched) {
    const endpoint = { url: receiver.url, events: ["*"] };
    receiver.secret = jsonIn(SECRET, await post("/webhooks", `${root}/webhooks`, session, endpoint)).secret;
  }
  return { merchantId, headers, receiver, book: [] };
}
