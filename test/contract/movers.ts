// An operator who moves a shop into the tests' server: a new merchant for each test, and the command as a function.
import { expect } from "vitest";
import { move } from "../../scripts/move/run.ts";
import { type Api, apiOf, expectOk, service } from "./client.ts";
import { signedIn } from "./people.ts";
import type { Wallet } from "./shapes.ts";

/** The permissions that a move into a merchant needs. */
export const MOVE_PERMISSIONS = [
  "MERCHANT_VIEW",
  "MERCHANT_UPDATE",
  "PROTECTION_WEAKEN",
  "WALLET_VIEW",
  "WALLET_CREATE",
  "WALLET_UPDATE",
  "WEBHOOK_VIEW",
  "WEBHOOK_CREATE",
  "PRODUCT_VIEW",
  "PRODUCT_CREATE",
  "CUSTOMER_VIEW",
  "CUSTOMER_UPDATE",
];

/** A merchant without data, with a key for the move. */
export async function newMerchant(permissions: readonly string[] = MOVE_PERMISSIONS): Promise<Api> {
  const owner = await signedIn("mover");
  const { body: merchant } = await owner.post("/api/v1/merchants", { name: "Moved shop" });
  const path = `/api/v1/merchants/merchant/${merchant.id}/api-keys`;
  const { status, body } = await owner.post(path, { name: "Move", kind: "SECRET", permissions });
  expect(status).toBe(201);
  return apiOf(merchant.id, body.secret);
}

export interface Source {
  /** `btcpay --from ... --store ...` */
  readonly args: readonly string[];
  readonly key: string;
}

interface Moved {
  readonly status: number;
  readonly printed: string;
  readonly asked: readonly string[];
}

/** Runs the command. Without `answers` there is no terminal. */
export async function runMove(
  { args, key }: Source,
  into: Api,
  more: {
    readonly args?: readonly string[];
    readonly answers?: readonly string[];
    readonly to?: string;
    readonly environment?: Readonly<Record<string, string>>;
  } = {},
): Promise<Moved> {
  const lines: string[] = [];
  const asked: string[] = [];
  const left = [...(more.answers ?? [])];
  const ask = async (question: string) => {
    asked.push(question);
    return left.shift() ?? "";
  };
  const to = ["--to", more.to ?? service.baseUrl, "--merchant", into.merchantId];
  const status = await move([...args, ...to, ...(more.args ?? [])], {
    environment: { MOVE_FROM_KEY: key, MOVE_TO_KEY: into.key, ...more.environment },
    print: (line) => lines.push(line),
    ask: more.answers === undefined ? undefined : ask,
    askSecret: undefined,
    client: { maxRetries: 0 },
  });
  const printed = lines.join("\n");
  // Whatever happens, no key is shown.
  expect(printed).not.toContain(key);
  expect(printed).not.toContain(into.key);
  return { status, printed, asked };
}

/** What a move creates, without the parts that differ between merchants. */
export async function stateOf(merchant: Api): Promise<unknown> {
  const wallets = expectOk(await merchant.get<Wallet[]>("/wallets"), 200);
  const webhooks = expectOk(
    await merchant.get<{ url: string; events: string[]; isActive: boolean }[]>("/webhooks"),
    200,
  );
  type Rows = { data: { name: string | null; email?: string | null }[] };
  const products = expectOk(await merchant.get<Rows>("/products?limit=100"), 200).data;
  const customers = expectOk(await merchant.get<Rows>("/customers?limit=100"), 200).data;
  type Settings = { invoiceLifetimeSeconds: number; underpaidTolerancePercent: number; brand: { name: string | null } };
  const settings = expectOk(await merchant.get<Settings>("/settings"), 200);
  return {
    wallets: wallets.map(({ network, xpub, address, isEnabled, requiredConfirmations }) => ({
      network,
      key: xpub ?? address,
      isEnabled,
      requiredConfirmations,
    })),
    webhooks: webhooks.map(({ url, events, isActive }) => ({ url, events, isActive })),
    products: products.map(({ name }) => name).toSorted(),
    customers: customers.map(({ name, email }) => `${email} ${name}`).toSorted(),
    settings: [settings.invoiceLifetimeSeconds, settings.underpaidTolerancePercent, settings.brand.name],
  };
}
