// The steps of a move: what is wanted and does not exist yet. So a second run after an interruption skips what the first run did. Pure functions.
import type * as Api from "../../client/edgetill.ts";
import { sha256Hex } from "../../src/lib/bytes.ts";
import { plainText } from "../../src/lib/plain-text.ts";
import type { Present } from "./present.ts";
import type { Wanted, WantedSettings, WantedWallet } from "./wanted.ts";

export type Step =
  | { readonly kind: "wallet"; readonly wallet: WantedWallet }
  | { readonly kind: "webhook"; readonly body: Api.CreateWebhookBody }
  | { readonly kind: "product"; readonly body: Api.CreateProductBody; readonly ordinal: number }
  | { readonly kind: "customer"; readonly body: Api.UpsertCustomerBody; readonly ordinal: number }
  | { readonly kind: "settings"; readonly body: Api.UpdateSettingsBody; readonly isWeaker: boolean };

export interface Work {
  readonly steps: readonly Step[];
  /** Lines about existing objects. */
  readonly there: readonly string[];
  /** Lines about objects that conflict with existing ones. */
  readonly blocked: readonly string[];
}

/** A merchant that is still empty. */
export const NOTHING: Present = {
  merchantName: "",
  permissions: [],
  wallets: [],
  webhooks: [],
  products: [],
  customers: [],
  settings: undefined,
};

export function workOf(wanted: Wanted, present: Present): Work {
  const parts = [
    walletWork(wanted, present),
    webhookWork(wanted, present),
    listWork("product", wanted.products, present.products, productIdentity, (body, ordinal) => ({
      kind: "product",
      body,
      ordinal,
    })),
    listWork("customer", wanted.customers, present.customers, customerIdentity, (body, ordinal) => ({
      kind: "customer",
      body,
      ordinal,
    })),
    settingsWork(wanted.settings, present.settings),
  ];
  return {
    steps: parts.flatMap(({ steps }) => steps),
    there: parts.flatMap(({ there }) => there),
    blocked: parts.flatMap(({ blocked }) => blocked),
  };
}

function walletWork(wanted: Wanted, present: Present): Work {
  const works = wanted.wallets.map((wallet): Partial<Work> => {
    const pair = `${wallet.body.cryptocurrency} on ${wallet.body.network}`;
    const same = present.wallets.find((each) => each.pair === pair);
    if (same === undefined) return { steps: [{ kind: "wallet", wallet }] };
    const { id, identity, addresses } = same;
    if (identity !== wallet.identity)
      return { blocked: [`wallet ${pair}: the merchant has another one, ${id}; it stays as it is`] };
    return wallet.addresses.every((address, index) => addresses[index] === address)
      ? { there: [`wallet ${pair}: ${id}`] }
      : { blocked: [`wallet ${pair}: ${id} shows other addresses than were compared; delete it`] };
  });
  return {
    steps: works.flatMap(({ steps }) => steps ?? []),
    there: works.flatMap(({ there }) => there ?? []),
    blocked: works.flatMap(({ blocked }) => blocked ?? []),
  };
}

function webhookWork(wanted: Wanted, { webhooks }: Present): Work {
  const read = wanted.webhooks.map((body) => ({
    body,
    same: webhooks.find((each) => isSameWebhook(body, each)),
  }));
  return {
    steps: read.flatMap(({ body, same }) => (same === undefined ? { kind: "webhook", body } : [])),
    there: read.flatMap(({ body, same }) =>
      same === undefined || !isSameFormat(body, same)
        ? []
        : `webhook ${plainText(body.url)}: ${same.id}; if you do not have its secret, make a new one: rotate it in the console`,
    ),
    blocked: read.flatMap(({ body, same }) =>
      same === undefined || isSameFormat(body, same)
        ? []
        : `webhook ${plainText(body.url)}: ${same.id} is there in the format ${same.format}; delete it in the console and run this again`,
    ),
  };
}

const isSameFormat = ({ format = "STANDARD" }: Api.CreateWebhookBody, same: Api.Webhook) => format === same.format;

/**
 * Compares the descriptions, which a move sets. URLs are not compared, because the server normalizes them, nor events, because they may change later.
 */
function isSameWebhook(body: Api.CreateWebhookBody, { description }: Api.Webhook): boolean {
  return description === body.description;
}

/**
 * Rows that are equal in everything that is moved are distinguished by number: if two of three equal rows already exist, only the third is written.
 * `ordinal`: the row's number among equal rows.
 */
function listWork<Body, Row>(
  kind: string,
  wanted: readonly Body[],
  rows: readonly Row[],
  identityOf: (of: Body | Row) => string,
  stepOf: (body: Body, ordinal: number) => Step,
): Work {
  const there = countsOf(rows.map(identityOf));
  const seen = new Map<string, number>();
  const steps = wanted.flatMap((body) => {
    const identity = identityOf(body);
    const ordinal = seen.get(identity) ?? 0;
    seen.set(identity, ordinal + 1);
    return ordinal < (there.get(identity) ?? 0) ? [] : stepOf(body, ordinal);
  });
  const found = wanted.length - steps.length;
  return { steps, there: found === 0 ? [] : [`${kind}s: ${found}`], blocked: [] };
}

function countsOf(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

function productIdentity(of: Api.CreateProductBody | Api.Product): string {
  const { name, description, currency, isActive, askForName, askForAddress, askForPhoneNumber } = of;
  const price = Number(of.price);
  const flags = [isActive, askForName, askForAddress, askForPhoneNumber];
  return JSON.stringify([name, description ?? null, price, currency, flags]);
}

/** A customer is identified by email if there is one, as on the server. */
function customerIdentity({ email, name, address, phoneNumber }: Api.UpsertCustomerBody | Api.Customer): string {
  return typeof email === "string"
    ? email.toLowerCase()
    : JSON.stringify([name ?? null, address ?? null, phoneNumber ?? null]);
}

function settingsWork(wanted: WantedSettings, present: Api.Settings | undefined): Work {
  const { invoiceLifetimeSeconds, underpaidTolerancePercent, brandName, formerStoreId } = wanted;
  const body: Api.UpdateSettingsBody = {
    ...(invoiceLifetimeSeconds === undefined || invoiceLifetimeSeconds === present?.invoiceLifetimeSeconds
      ? {}
      : { invoiceLifetimeSeconds }),
    ...(underpaidTolerancePercent === undefined || underpaidTolerancePercent === present?.underpaidTolerancePercent
      ? {}
      : { underpaidTolerancePercent }),
    ...(brandName === undefined || (present?.brand.name ?? null) !== null ? {} : { brand: { name: brandName } }),
    ...(formerStoreId === undefined || formerStoreId === present?.formerStoreId ? {} : { formerStoreId }),
  };
  const isDone = Object.keys(body).length === 0;
  const there = isDone && Object.keys(wanted).length > 0 ? ["settings"] : [];
  const isWeaker = (body.underpaidTolerancePercent ?? 0) > (present?.underpaidTolerancePercent ?? 0);
  return { steps: isDone ? [] : [{ kind: "settings", body, isWeaker }], there, blocked: [] };
}

/** One line for the operator. */
export function lineOf(step: Step): string {
  switch (step.kind) {
    case "wallet": {
      const { body, addresses } = step.wallet;
      const { cryptocurrency, network, requiredConfirmations, isEnabled } = body;
      const what =
        body.walletType === "XPUB_WALLET"
          ? `key of ${body.derivationPath}, first address ${addresses[0]}`
          : `address ${plainText(body.address)}`;
      const state = isEnabled === false ? ", disabled" : "";
      const confirmations = requiredConfirmations === 1 ? "1 confirmation" : `${requiredConfirmations} confirmations`;
      return `wallet ${cryptocurrency} on ${network}: ${what}, ${confirmations}${state}`;
    }
    case "webhook": {
      const { url, events, format = "STANDARD", isActive = true } = step.body;
      const as = format === "GREENFIELD" ? ", in BTCPay Server's format" : "";
      return `webhook ${plainText(url)}: ${(events ?? []).join(", ")}${as}${isActive ? "" : ", switched off"}`;
    }
    case "product":
      return `product ${plainText(step.body.name)}: ${step.body.price} ${step.body.currency}`;
    case "customer":
      return `customer ${plainText(step.body.email ?? step.body.name ?? "without email and name")}`;
    case "settings":
      return `settings: ${plainText(JSON.stringify(step.body))}`;
  }
}

/** Every run uses the same key for the same step, so the server performs the step once. */
export function idempotencyKeyOf(step: Step): string {
  // Without secrets: the server stores the idempotency key.
  return `move-${sha256Hex(JSON.stringify(step, (name, value: unknown) => (name === "secret" ? undefined : value)))}`;
}

/** The permissions that a step needs, as the API names them. A wallet that shows wrong addresses is disabled, which is an update. */
export function permissionsOf(step: Step): readonly string[] {
  switch (step.kind) {
    case "wallet":
      return ["wallet:create", "wallet:update"];
    case "webhook":
    case "product":
      return [`${step.kind}:create`];
    case "customer":
      return ["customer:update"];
    case "settings":
      return ["merchant:update", ...(step.isWeaker ? ["protection:weaken"] : [])];
  }
}
