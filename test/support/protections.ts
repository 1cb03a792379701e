// All request members that do not protect anything, listed by hand. Members that can weaken a protection are listed in
// src/accounts/protections/weakening.ts. test/worker/accounts/protections.test.ts fails for a member that is on neither list, or on both. A grant is
// anything that gives access: a key, a role, an invitation, an endpoint, a wallet. Its route asks for a factor (access-table.ts), and it does not
// weaken existing protections.
import type { Schema } from "./json-schema.ts";
import { resolve } from "./json-schema.ts";

const CREDENTIAL = ["credential.id", "credential.rawId", "credential.type", "credential.response.clientDataJSON"];
const ASSERTION = [
  ...CREDENTIAL,
  "credential.response.authenticatorData",
  "credential.response.signature",
  "credential.response.userHandle",
];
const ATTESTATION = [...CREDENTIAL, "credential.response.attestationObject", "credential.response.transports"];
const PERSON = ["customerEmail", "customerName", "customerAddress", "customerPhoneNumber"];
const INVOICE = ["name", ...PERSON, "description", "redirectUrl", "metadata"];
const PRODUCT = ["name", "description", "price", "currency", "image", "isActive"];
const QUESTIONS = ["askForName", "askForAddress", "askForPhoneNumber"];
const ENDPOINT = ["url", "events", "description", "isActive", "retryCount", "timeout"];
const CUSTOMER = ["email", "name", "address", "phoneNumber", "metadata"];
const METHOD = ["cryptocurrency", "network"];

/** Members by operation. */
export const NO_PROTECTION: Readonly<Record<string, readonly string[]>> = {
  createInvoice: [
    ...INVOICE,
    "rawAmount",
    "currency",
    "productId",
    "externalId",
    "expiresInSeconds",
    "underpaidTolerancePercent",
    "paymentMethods[].cryptocurrency",
    "paymentMethods[].network",
  ],
  updateInvoice: INVOICE,
  resolveInvoice: ["action", "reason", "txHash"],
  activatePaymentMethod: METHOD,
  lookUpPayment: ["network", "txHash"],
  resolvePayment: ["action", "invoiceId", "reason", "txHash"],
  pickPaymentMethod: METHOD,
  claimPayment: ["txHash", "network"],
  // A new wallet is a grant, and has its own notification emails.
  registerWallet: [
    "walletType",
    "cryptocurrency",
    "network",
    "address",
    "xpub",
    "derivationPath",
    "requiredConfirmations",
    "isEnabled",
  ],
  disableWalletByLink: ["token"],
  createWebhook: [...ENDPOINT, "format", "secret"],
  updateWebhook: ENDPOINT,
  replayEvents: ["from", "to", "types"],
  createProduct: [...PRODUCT, ...QUESTIONS],
  updateProduct: [...PRODUCT, ...QUESTIONS],
  upsertCustomer: CUSTOMER,
  updateCustomer: CUSTOMER,
  uploadImage: ["contentType", "data"],
  createMerchant: ["name"],
  updateMerchant: ["name"],
  deleteMerchant: ["name"],
  updateSettings: [
    // A shop's promises to customers, and its appearance.
    "invoiceLifetimeSeconds",
    "rateLockSeconds",
    "monitorSeconds",
    "mailReceiptsToCustomers",
    "brand.name",
    "brand.color",
    "brand.supportUrl",
    "brand.logo",
    // Capacity limits; the operator's own limits still apply.
    "maxActiveInvoices",
    "maxPublicInvoices",
    // The store's id at BTCPay Server, which gives keys of other merchants no access.
    "formerStoreId",
  ],
  createApiKey: ["name", "kind", "permissions", "expiresAt", "allowedIps"],
  authorizeApplication: ["question", "application", "redirect", "rights"],
  updateApiKey: ["name"],
  rotateApiKey: ["overlapHours"],
  changeRole: ["role"],
  inviteMember: ["email", "role"],
  acceptInvitation: ["token"],
  startEmailSignIn: ["email"],
  verifyEmailSignIn: ["email", "code"],
  verifyPasskeySignIn: ASSERTION,
  verifySecondFactor: ["method", "code", ...ASSERTION],
  verifyStepUp: ["method", "code", ...ASSERTION],
  updateMe: ["name"],
  addPasskey: [...ATTESTATION, "name"],
  updatePasskey: ["name"],
  confirmTotp: ["code"],
  beginSetUp: ["token", "email", "name"],
  redeemSetUpLink: ["token", ...ATTESTATION],
  rereadNetwork: ["fromHeight", "toHeight"],
  recordAlertProof: ["outcome"],
  startTestChain: ["state"],
  payAsCustomer: [...METHOD, "address", "amountDue", "requiredConfirmations"],
  mcp: ["jsonrpc", "method"],
  pickOnCheckout: ["method"],
  claimOnCheckout: ["network", "txHash"],
  buyProduct: ["token", "email", "name", "address", "phone", "amount", "cf-turnstile-response"],
};

/** The members a request may have, by path. */
export function membersOf(document: unknown, given: Schema, at = ""): readonly string[] {
  const schema: Schema = given.$ref === undefined ? given : Object(resolve(document, given.$ref));
  const choices = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((each) => (Array.isArray(each) ? each : []));
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const path = at === "" ? name : `${at}.${name}`;
    const below = membersOf(document, inner, path);
    return below.length > 0 ? below : [path];
  });
  const items = schema.items === undefined ? [] : membersOf(document, schema.items, `${at}[]`);
  return [...new Set([...choices.flatMap((each) => membersOf(document, each, at)), ...own, ...items])];
}
