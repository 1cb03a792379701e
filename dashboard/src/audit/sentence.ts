// An entry of the log as a sentence: `You renamed the merchant from “Corner shop” to “Harbour Coffee”`. The log has only ids of invoices, members
// and keys; the sentence shows their current names, if those are known. Text that a person typed is shown without characters that would reverse
// the text after it.
import { plainText } from "../../../src/lib/plain-text.ts";
import type { AuditEvent } from "../api/operations.ts";
import { INVOICE_STATES, isInvoiceStatus } from "../invoices/states.ts";
import { coinName } from "../shell/coin-name.ts";
import { actionWords, changesOf, isKnownAction, type KnownAction } from "./words.ts";

/** Names and formats that the log itself does not contain. */
export interface Known {
  readonly actor: string;
  /** The name of an invoice, member or key; undefined if it was deleted, or the reader may not see it. */
  readonly nameOf: (id: string) => string | undefined;
  /** The amount in the invoice's currency, if the currency is known. */
  readonly moneyOf: (amount: string, invoiceId: string) => string;
  readonly money: (amount: string, currency: string) => string;
  readonly coins: (amount: string) => string;
}

type Entry = Pick<AuditEvent, "action" | "target" | "before" | "after">;
type Facts = NonNullable<AuditEvent["before"]>;

interface Told extends Known {
  readonly target: string;
  readonly before: Facts;
  readonly after: Facts;
  /** The object of the entry with its name, if the name is known: `the product “Beans”`. */
  readonly named: (noun: string, name: string | undefined) => string;
  /** `the name and price`, or other changed fields; `details` if the entry names none. */
  readonly fields: string;
}

export function sentenceOf(entry: Entry, known: Known): string {
  const { action, target } = entry;
  const actor = plainText(known.actor);
  if (!isKnownAction(action)) return `${actor}: ${actionWords(action)}`;
  const nameOf = (id: string) => text(known.nameOf(id));
  const told = {
    ...known,
    nameOf,
    target,
    before: entry.before ?? {},
    after: entry.after ?? {},
    named: (noun: string, name: string | undefined) => named(noun, name ?? nameOf(target)),
    fields: fieldsOf(entry),
  };
  return `${actor} ${PREDICATES[action](told)}`;
}

const PREDICATES: Readonly<Record<KnownAction, (told: Told) => string>> = {
  "merchant.created": () => "created the merchant",
  "merchant.updated": ({ before, after }) => `renamed the merchant${fromTo(quoted(before.name), quoted(after.name))}`,
  "merchant.deleted": () => "deleted the merchant",
  "merchant.suspended": () => "suspended the merchant, as an operator of this deployment",
  "merchant.resumed": () => "ended the suspension, as an operator of this deployment",
  "settings.updated": ({ before, after }) => `changed the settings: ${settingsText({ before, after })}`,
  "team.security_updated": () => "changed the required sign-in methods",
  "team.member_joined": ({ after }) => `joined the team${asRole(after.role)}`,
  "team.member_removed": ({ before }) => `removed a member${asRole(before.role)}`,
  "team.member_left": () => "left the team",
  "team.role_changed": ({ nameOf, target, before, after }) =>
    `changed the role of ${nameOf(target) ?? "a member"}${fromTo(roleName(before.role), roleName(after.role))}`,
  "team.invitation_created": ({ after }) => `invited ${text(after.email) ?? "someone"}${asRole(after.role)}`,
  "team.invitation_resent": ({ after }) => `sent the invitation${to(after.email)} again`,
  "team.invitation_revoked": ({ before }) => `revoked the invitation${to(before.email)}`,
  "team.invitation_accepted": () => "accepted an invitation",
  "api_key.created": ({ named, after }) => `created ${named("API key", text(after.name))}`,
  "api_key.updated": ({ named, after, fields }) => `changed ${fields} of ${named("API key", text(after.name))}`,
  "api_key.rotated": ({ named }) => `rotated ${named("API key", undefined)}`,
  "api_key.deleted": ({ named, before }) => `revoked ${named("API key", text(before.name))}`,
  "wallet.created": ({ after }) => `added ${walletText(after)}`,
  "wallet.updated": (told) => `${walletVerb(told)} ${walletText({ ...told.before, ...told.after })}`,
  "wallet.deleted": ({ before }) => `deleted ${walletText(before)}`,
  "wallet.frozen": ({ before, after }) =>
    `stopped using ${walletText({ ...before, ...after })}, because it was altered in the database`,
  "wallet.disabled_by_link": ({ before, after }) =>
    `disabled ${walletText({ ...before, ...after })} with the link in an email`,
  "invoice.created": (told) => `created ${invoiceText(told)}${amountText(told)}`,
  "invoice.updated": invoiceUpdated,
  "invoice.payment_method_activated": ({ after, coins, ...told }) => {
    const coin = coinText(after);
    const amount = text(after.amount);
    return `added ${amount === undefined ? coin : `${coins(amount)} ${coin}`} as a payment method to ${invoiceText(told)}`;
  },
  "invoice.requoted": (told) => `renewed the quote for ${invoiceText(told)}`,
  "invoice.status_changed": (told) =>
    `moved ${invoiceText(told)}${fromTo(stateName(told.before.status), stateName(told.after.status))}${receivedText(told)}`,
  "invoice.cancelled": (told) => `cancelled ${invoiceText(told)}`,
  "invoice.resolved": (told) => resolvedText(told),
  "payment.resolved": paymentResolved,
  "product.created": ({ named, after }) => `created ${named("product", text(after.name))}`,
  "product.updated": ({ named, after, fields }) => `changed ${fields} of ${named("product", text(after.name))}`,
  "product.deleted": ({ named, before }) => `deleted ${named("product", text(before.name))}`,
  "customer.created": () => "created a customer",
  "customer.updated": ({ fields }) => `changed ${fields} of a customer`,
  "customer.deleted": () => "erased a customer",
  "image.uploaded": () => "uploaded an image",
  "webhook.created": ({ after }) => `created the endpoint ${text(after.url) ?? ""}`.trim(),
  "webhook.updated": ({ before, after, fields }) => {
    const endpoint = text(after.url) === undefined ? "an endpoint" : `the endpoint ${text(after.url)}`;
    if (after.isActive === false && before.isActive === true) return `turned off ${endpoint}`;
    if (after.isActive === true && before.isActive === false) return `turned ${endpoint} on again`;
    return `changed ${fields} of ${endpoint}`;
  },
  "webhook.deleted": ({ before }) => `deleted the endpoint ${text(before.url) ?? ""}`.trim(),
  "webhook.secret_rotated": () => "rotated an endpoint's secret",
};

type Fact = Facts[string] | undefined;

function text(fact: Fact): string | undefined {
  const plain = typeof fact === "string" ? plainText(fact) : "";
  return plain === "" ? undefined : plain;
}

function quoted(fact: Fact): string | undefined {
  const of = text(fact);
  return of === undefined ? undefined : `“${of}”`;
}

function named(noun: string, name: string | undefined): string {
  if (name !== undefined) return `the ${noun} “${name}”`;
  return `${/^[AEIO]/i.test(noun) ? "an" : "a"} ${noun}`;
}

function fromTo(before: string | undefined, after: string | undefined): string {
  return `${before === undefined ? "" : ` from ${before}`}${after === undefined ? "" : ` to ${after}`}`;
}

function to(email: Fact): string {
  const of = text(email);
  return of === undefined ? "" : ` to ${of}`;
}

function roleName(role: Fact): string | undefined {
  const of = text(role);
  return of === undefined ? undefined : `${of.charAt(0)}${of.slice(1).toLowerCase()}`;
}

function asRole(role: Fact): string {
  const name = roleName(role);
  return name === undefined ? "" : ` as ${name}`;
}

function invoiceText({ nameOf, target }: Pick<Told, "nameOf" | "target">): string {
  const name = nameOf(target);
  return name === undefined ? "an invoice" : `“${name}”`;
}

function amountText({ after, money }: Told): string {
  const [amount, currency] = [text(after.rawAmount), text(after.currency)];
  if (amount === undefined || currency === undefined) return "";
  return /^0(\.0+)?$/.test(amount) ? ", for any amount" : ` for ${money(amount, currency)}`;
}

function stateName(status: Fact): string | undefined {
  return isInvoiceStatus(status) ? INVOICE_STATES[status].name : undefined;
}

function receivedText({ after, moneyOf, target }: Told): string {
  const amount = text(after.amountReceived);
  return amount === undefined ? "" : `: ${moneyOf(amount, target)} received`;
}

/** For a change by a person, names the changed fields; for a change by the service, the money that arrived. */
function invoiceUpdated(told: Told): string {
  const { after, fields, target, moneyOf } = told;
  const [received, confirmed] = [text(after.amountReceived), text(after.amountConfirmed)];
  if (received !== undefined)
    return `recorded a payment to ${invoiceText(told)}: ${moneyOf(received, target)} received`;
  if (confirmed !== undefined) return `confirmed ${moneyOf(confirmed, target)} of ${invoiceText(told)}`;
  if (after.needsReview === true) return `flagged ${invoiceText(told)} for review`;
  if (after.fields === undefined && Object.keys(after).length === 0) return `updated a payment to ${invoiceText(told)}`;
  return `changed ${fields} of ${invoiceText(told)}`;
}

const RESOLUTIONS: Readonly<Record<string, (invoice: string) => string>> = {
  ACCEPT: (invoice) => `accepted ${invoice} as paid`,
  DISMISS: (invoice) => `dismissed the review of ${invoice}`,
  RETURNED: (invoice) => `recorded that the money for ${invoice} was returned`,
  ASK_FOR_REST: (invoice) => `requested the remaining amount for ${invoice}`,
  MARK: (invoice) => `marked ${invoice} as settled`,
};

function resolvedText(told: Told): string {
  const action = text(told.after.resolution) ?? "";
  const words = Object.hasOwn(RESOLUTIONS, action) ? RESOLUTIONS[action] : undefined;
  return words?.(invoiceText(told)) ?? `resolved ${invoiceText(told)}`;
}

function paymentResolved({ after, nameOf }: Told): string {
  const invoiceId = text(after.invoiceId);
  if (invoiceId !== undefined) return `assigned a payment to ${invoiceText({ nameOf, target: invoiceId })}`;
  if (after.status === "UNMATCHED") return "reopened a payment";
  return after.status === "IGNORED" ? "ignored a payment" : "resolved a payment";
}

function coinText(facts: Facts): string {
  const [coin, network] = [text(facts.cryptocurrency), text(facts.network)];
  return coin === undefined || network === undefined ? "a coin" : coinName(coin, network);
}

function walletText(facts: Facts): string {
  return facts.cryptocurrency === undefined ? "a wallet" : `a wallet for ${coinText(facts)}`;
}

function walletVerb({ before, after }: Told): string {
  if (before.isEnabled === true && after.isEnabled === false) return "disabled";
  return before.isEnabled === false && after.isEnabled === true ? "enabled" : "changed";
}

const NAMED = 2;

function settingsText(of: Pick<Entry, "before" | "after">): string {
  const changes = changesOf(of);
  const words = changes
    .slice(0, NAMED)
    .map(({ field, before, after }) => plainText(`${field} from ${before} to ${after}`));
  return listText(words, changes.length - words.length);
}

/** For entries that name the changed fields, but not their values. */
function fieldsOf({ before, after }: Entry): string {
  const fields = after?.fields ?? before?.fields;
  const names = Array.isArray(fields)
    ? changesOf({ before: null, after: Object.fromEntries(fields.map((field) => [field, null])) })
    : changesOf({ before, after });
  const shown = names.slice(0, NAMED).map(({ field }) => field.toLowerCase());
  return shown.length === 0 ? "details" : `the ${listText(shown, names.length - shown.length)}`;
}

function listText(words: readonly string[], more: number): string {
  const all = more > 0 ? [...words, `${more} more`] : words;
  return all.length < 2 ? (all[0] ?? "") : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;
}
