// The real operation behind a product page's form. Two renderings of the form, with two clients each, run concurrently with a server that creates an
// invoice for the same customer, while the merchant changes the product.
import { buyProduct } from "../../../src/checkout/storefront/buy-product.ts";
import { orderOf } from "../../../src/checkout/storefront/contract.ts";
import { insertProduct } from "../../../src/commerce/products/store.ts";
import type { ProductId } from "../../../src/lib/ids.ts";
import { faultKind } from "../../../src/platform/db/retry.ts";
import type { Failure } from "../../../src/platform/failures.ts";
import { insist, type Scenario } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { Verdict } from "../engine/world.ts";
import {
  creating,
  ledgerProblem,
  MERCHANT,
  type Outcome,
  outcomeOf,
  type Shop,
  send,
  shopDependencies,
  stockShop,
  WALLETS,
} from "./shop.ts";

const PRODUCT: ProductId = "prd_00000000000000000000000000";
const EMAIL = "jane@example.com";
const CLIENTS_PER_FORM = 2;
/** The token of each rendering, and the name that the payer types. */
const FORMS = [
  { token: "00000000-0000-4000-8000-000000000001", name: "Jane" },
  { token: "00000000-0000-4000-8000-000000000002", name: "Janet" },
];
/** The two versions of the product. An invoice's name and price must come from the same version. */
const VERSIONS = [
  { name: "Coffee", price: 10_000_000n },
  { name: "Fine coffee", price: 12_000_000n },
];

/** Stores the shop with a product and one wallet, so each invoice of the page has its own address. */
export async function stockStorefront(lab: Lab): Promise<void> {
  await stockShop(lab);
  lab.rows(
    "update wallets set is_enabled = 0 where id <> ?",
    WALLETS.find(({ network }) => network === "BTC")?.id ?? "",
  );
  const [first] = VERSIONS;
  await insertProduct(
    lab.db(async (_, work) => work()),
    {
      id: PRODUCT,
      merchantId: MERCHANT,
      name: first?.name ?? "",
      description: null,
      priceMicros: first?.price ?? 0n,
      currency: "USD",
      image: null,
      isActive: true,
      askForName: true,
      askForAddress: false,
      askForPhoneNumber: false,
      createdAtMs: 1,
      updatedAtMs: 1,
      deletedAtMs: null,
    },
  );
}

export function buyProductScenario(lab: Lab): Scenario {
  return {
    name: "buy a product",
    lab,
    faultChance: 0.12,
    maxSteps: 6_000,
    start(world) {
      const shop: Shop = { lab, world, bugs: [] };
      const outcomes = new Map(FORMS.map(({ token }): [string, Outcome[]] => [token, []]));
      const created: Outcome[] = [];
      for (const form of FORMS) {
        for (let i = 0; i < CLIENTS_PER_FORM; i++)
          sendForm(shop, form, (outcome) => outcomes.get(form.token)?.push(outcome));
      }
      const order = { productId: PRODUCT, customerEmail: EMAIL, pairs: undefined };
      send(shop, "server", creating(order), (outcome) => created.push(outcome));
      changeProduct(shop);
      return () => {
        if (shop.bugs.length > 0) return `a bug: ${shop.bugs[0]}`;
        return formsProblem(lab, outcomes) ?? invoicesProblem(lab, created) ?? ledgerProblem(lab, FORMS.length + 1);
      };
    },
  };
}

/** A payer who submits the form of one rendering until it is answered. */
function sendForm(
  { lab, world, bugs }: Shop,
  form: { readonly token: string; readonly name: string },
  onDone: (outcome: Outcome) => void,
): void {
  insist<Outcome>({
    world,
    attempt: async (client) => {
      const { once, operation } = shopDependencies(lab, world, client);
      const callers = [{ network: "203.0.113.1", times: 1 }];
      const of = { merchantId: MERCHANT, productId: PRODUCT, form: { ...form, email: EMAIL }, callers };
      const bought = await buyProduct(
        { ...operation, once, orderOf: (product, typed) => orderOf(product, typed, "en") },
        of,
      );
      if (!bought.ok) return outcomeOf({ kind: "refused", failure: bought.error });
      return { kind: "done", value: { kind: "answer", status: 303, body: JSON.stringify(bought.value) } };
    },
    onDone,
    onBug: (error) => bugs.push(error),
    isFault: (error) => faultKind(error) !== "other",
  });
}

/** The merchant renames the product and raises its price at a random time. */
function changeProduct({ lab, world, bugs }: Shop): void {
  const [, later] = VERSIONS;
  insist<Failure | undefined>({
    world,
    attempt: async (client) => {
      const change = () =>
        lab.rows(
          "update products set name = ?, price_micros = ?, updated_at_ms = 2 where id = ?",
          later?.name ?? "",
          Number(later?.price),
          PRODUCT,
        );
      await world.effectOf(client)("d1 write", change);
      return { kind: "done", value: undefined };
    },
    onDone: () => {},
    onBug: (error) => bugs.push(error),
    isFault: (error) => faultKind(error) !== "other",
  });
}

/** There must be one invoice per rendering, no matter which client gets the answer. */
function formsProblem(lab: Lab, outcomes: ReadonlyMap<string, readonly Outcome[]>): Verdict {
  for (const [token, of] of outcomes) {
    const bodies = new Set(of.map((outcome) => (outcome.kind === "answer" ? outcome.body : outcome.failure.code)));
    if (of.length !== CLIENTS_PER_FORM || bodies.size !== 1) return `${token}: ${of.length} outcomes, ${[...bodies]}`;
    const { invoiceId } = JSON.parse([...bodies][0] ?? "");
    const [stored] = lab.rows("select origin from invoices where id = ?", invoiceId);
    if (stored?.origin !== "PRODUCT_PAGE") return `${token}: no invoice of a page, but ${stored?.origin}`;
  }
  return undefined;
}

/** Each invoice must have the terms of one version of the product, an address of its own, and the typed name. */
function invoicesProblem(lab: Lab, created: readonly Outcome[]): Verdict {
  if (created.length !== 1 || created[0]?.kind !== "answer") return "the server's create was refused";
  const rows =
    lab.rows(`select invoice.name, amount_micros as price, invoice.metadata ->> '$.customerName' as noted, buyer.name as buyer,
    (select count(*) from payment_methods where invoice_id = invoice.id and status = 'ACTIVE') as methods
    from invoices invoice join customers buyer on buyer.id = invoice.customer_id`);
  if (rows.length !== FORMS.length + 1) return `${rows.length} invoices`;
  if (lab.rows("select id from customers").length !== 1) return "several customers with one email";
  for (const { name, price, methods } of rows) {
    if (!VERSIONS.some((each) => each.name === name && Number(each.price) === Number(price)))
      return `${name} for ${price}`;
    if (methods !== 1) return `${methods} methods to pay`;
  }
  const names = new Set(rows.flatMap(({ noted, buyer }) => [noted, buyer]));
  const lost = FORMS.filter(({ name }) => !names.has(name));
  return lost.length === 0 ? undefined : `the name ${lost[0]?.name} is lost`;
}
