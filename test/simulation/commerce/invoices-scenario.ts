// The real operations create invoices with both kinds of method, and pick methods for an existing invoice.

import type { NewInvoice } from "../../../src/commerce/invoices/create-invoice.ts";
import type { Failure } from "../../../src/platform/failures.ts";
import type { Scenario } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { Verdict } from "../engine/world.ts";
import {
  creating,
  DIRECT,
  ledgerProblem,
  type Outcome,
  picking,
  type Shop,
  send,
  sendDelete,
  WALLETS,
  XPUB,
} from "./shop.ts";

const ORDER: NewInvoice = {
  name: "Order",
  rawAmount: 10_000_000n,
  currency: "USD",
  customerEmail: "Payer@example.com",
  pairs: [DIRECT, XPUB],
};

/**
 * Three keys, with two clients each, create invoices at one price for one new customer. They compete for the amount, the address and the customer.
 * Two of the keys also use the same external id, so one of them must be refused.
 */
export function createInvoiceScenario(lab: Lab): Scenario {
  const wanted = new Map<string, NewInvoice>([
    ["a", ORDER],
    ["b", { ...ORDER, externalId: "order 1" }],
    ["c", { ...ORDER, externalId: "order 1", customerName: "Payer" }],
  ]);
  return {
    name: "create invoice",
    lab,
    faultChance: 0.12,
    maxSteps: 6_000,
    start(world) {
      const shop: Shop = { lab, world, bugs: [] };
      const outcomes = new Map<string, Outcome[]>();
      for (const [key, invoice] of wanted) {
        const of: Outcome[] = [];
        outcomes.set(key, of);
        for (let i = 0; i < 2; i++) send(shop, key, creating(invoice), (outcome) => of.push(outcome));
      }
      return () => {
        const answers = answersOf(shop, outcomes);
        if (typeof answers === "string") return answers;
        const stands = lab.rows("select id, external_id from invoices");
        const missing = [...answers].filter(([, body]) => !stands.some((row) => row.id === JSON.parse(body).id));
        if (missing.length > 0) return `${missing.length} answered invoices do not stand`;
        if (stands.length !== answers.size) return `${stands.length} invoices for ${answers.size} answered keys`;
        // There is always a wallet, so only the second order with the same external id is refused.
        if (stands.length !== 2) return `${stands.length} invoices for two orders`;
        const emails = lab.rows("select id from customers");
        if (emails.length !== 1) return `${emails.length} customers with one email`;
        return methodProblem(answers) ?? ledgerProblem(lab, wanted.size);
      };
    },
  };
}

/** Four keys pick methods of one invoice: two keys for each of its two pairs, so that different operations compete for the same method. */
export function activateMethodScenario(lab: Lab): Scenario {
  return {
    name: "activate method",
    lab,
    faultChance: 0.12,
    maxSteps: 6_000,
    start(world) {
      const shop: Shop = { lab, world, bugs: [] };
      const outcomes = new Map<string, Outcome[]>();
      // The order names no pair and there are two wallets, so no method is activated at creation.
      send(shop, "create", creating({ ...ORDER, pairs: undefined }), (created) => {
        outcomes.set("create", [created, created]);
        if (created.kind === "refused") return;
        const { id } = JSON.parse(created.body);
        for (const [n, pair] of [DIRECT, DIRECT, XPUB, XPUB].entries()) {
          const of: Outcome[] = [];
          outcomes.set(`pick ${n}`, of);
          for (let i = 0; i < 2; i++) send(shop, `pick ${n}`, picking(id, pair), (outcome) => of.push(outcome));
        }
      });
      return () => {
        const answers = answersOf(shop, outcomes);
        if (typeof answers === "string") return answers;
        if (answers.size !== 5) return `${answers.size} answers to 5 keys`;
        const methods = lab.rows("select network, address, amount_units from payment_methods where status = 'ACTIVE'");
        if (methods.length !== 2) return `${methods.length} methods for two pairs`;
        for (const [key, body] of answers) {
          const told = JSON.parse(body);
          const isTrue = methods.some((row) => row.network === told.network && row.address === told.address);
          if (key !== "create" && !isTrue) return `${key} was told another address than stands`;
        }
        return ledgerProblem(lab, 1);
      };
    },
  };
}

/**
 * Two keys create invoices on both wallets while each wallet is deleted. The batch that commits second sees the first one. No invoice may still await
 * payment to a deleted wallet, and existing invoices keep both methods.
 */
export function deleteWalletScenario(lab: Lab): Scenario {
  return {
    name: "delete wallet against create invoice",
    lab,
    faultChance: 0.12,
    maxSteps: 6_000,
    start(world) {
      const shop: Shop = { lab, world, bugs: [] };
      const outcomes = new Map<string, Outcome[]>();
      for (const key of ["a", "b"]) {
        const of: Outcome[] = [];
        outcomes.set(key, of);
        for (let i = 0; i < 2; i++) send(shop, key, creating(ORDER), (outcome) => of.push(outcome));
      }
      const deletes = WALLETS.map(({ id }) => {
        const of: Outcome[] = [];
        sendDelete(shop, id, (outcome) => of.push(outcome));
        return { id, of };
      });
      return () => {
        const answers = answersOf(shop, outcomes);
        if (typeof answers === "string") return answers;
        const stands = lab.rows("select id from invoices").length;
        if (stands !== answers.size) return `${stands} invoices for ${answers.size} answered keys`;
        for (const { id, of } of deletes) {
          const problem = deleteProblem(lab, id, of);
          if (problem !== undefined) return problem;
        }
        return methodProblem(answers) ?? ledgerProblem(lab, outcomes.size);
      };
    },
  };
}

function deleteProblem(lab: Lab, walletId: string, of: readonly Outcome[]): Verdict {
  const [outcome] = of;
  if (of.length !== 1 || outcome === undefined) return `a delete with ${of.length} outcomes`;
  const [facts] = lab.rows(
    `select (select deleted_at_ms is not null from wallets where id = ?) as is_deleted,
      (select count(*) from events where type = 'wallet.deleted' and json_extract(data, '$.walletId') = ?) as told,
      (select count(*) from payment_methods method join invoices active on active.id = method.invoice_id
        where method.wallet_id = ? and method.status = 'ACTIVE'
        and active.status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')) as ties`,
    walletId,
    walletId,
    walletId,
  );
  const isDeleted = facts?.is_deleted === 1;
  if (isDeleted && facts?.ties !== 0) return `a deleted wallet with ${facts?.ties} active ties`;
  if (facts?.told !== (isDeleted ? 1 : 0))
    return `a wallet ${isDeleted ? "deleted" : "live"}, told ${facts?.told} times`;
  if (outcome.kind === "answer") return isDeleted ? undefined : "a delete was answered and the wallet stands";
  // A delete repeated after a lost answer no longer finds the wallet.
  if (outcome.failure.code === "WALLET_NOT_FOUND") return isDeleted ? undefined : "a live wallet was not found";
  if (outcome.failure.code === "WALLET_HAS_ACTIVE_PAYMENTS") return isDeleted ? "a refused delete happened" : undefined;
  return `a delete was refused with ${outcome.failure.code}`;
}

/** The answer of each key, without keys that were refused for good; or the first problem with the outcomes, as text. */
function answersOf(shop: Shop, outcomes: ReadonlyMap<string, readonly Outcome[]>): Map<string, string> | string {
  if (shop.bugs.length > 0) return `a bug: ${shop.bugs[0]}`;
  const answers = new Map<string, string>();
  for (const [key, of] of outcomes) {
    if (of.length !== 2) return `${2 - of.length} clients of ${key} without an outcome`;
    const texts = new Set(of.map((outcome) => (outcome.kind === "answer" ? outcome.body : outcome.failure.code)));
    if (texts.size !== 1) return `${key} had the outcomes ${[...texts].join(" and ")}`;
    for (const outcome of of) {
      if (outcome.kind === "answer") answers.set(key, outcome.body);
      else if (!EXPECTED.has(outcome.failure.code)) return `${key} was refused with ${outcome.failure.code}`;
    }
  }
  return answers;
}

const EXPECTED: ReadonlySet<Failure["code"]> = new Set(["EXTERNAL_ID_EXISTS", "NO_ENABLED_WALLET"]);

/** Both methods of each answered invoice must be payable, at their own addresses and amounts. */
function methodProblem(answers: ReadonlyMap<string, string>): Verdict {
  const seen = new Set<string>();
  for (const [key, body] of answers) {
    const methods: { status: string; reason: string; address: string; amount: string }[] =
      JSON.parse(body).paymentMethods;
    for (const { status, reason, address, amount } of methods) {
      if (status !== "ACTIVE") return `a method of ${key} is ${status}: ${reason}`;
      if (seen.has(`${address} ${amount}`)) return `two invoices ask for ${amount} at ${address}`;
      seen.add(`${address} ${amount}`);
    }
    if (methods.length !== 2) return `${methods.length} methods of ${key}`;
  }
  return undefined;
}
