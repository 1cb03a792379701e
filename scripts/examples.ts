// The commands that `npm start` prints: they work when pasted unchanged, in this order, in any POSIX shell.
import { randomBytes } from "node:crypto";
import type { Demo } from "./demo.ts";

/**
 * BIP84, "Test vectors", account 0 of the mnemonic "abandon ... about": its private key is public. The path is written with h, which needs no
 * quoting in a shell.
 */
const TEST_KEY = {
  walletType: "XPUB_WALLET",
  cryptocurrency: "BTC",
  network: "BTC",
  xpub: "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs",
  derivationPath: "m/84h/0h/0h",
};

/** `reference` distinguishes the invoices of different starts; it is also the Idempotency-Key. */
export function examples(demo: Demo, reference = `demo-${randomBytes(4).toString("hex")}`): string {
  const merchant = `${demo.baseUrl}/api/v1/merchants/merchant/${demo.merchantId}`;
  const key = `-H 'x-api-key: ${demo.secretKey}'`;
  const json = "-H 'content-type: application/json'";
  const auth = `${demo.baseUrl}/api/v1/auth/email`;
  const invoice = {
    name: "Order 1001",
    rawAmount: 49.9,
    currency: "USD",
    customerEmail: "customer@example.com",
    externalId: reference,
  };
  return `
# 1. Register a wallet. The key is public test data, so never pay to it. If it is already registered, the answer is 409 WALLET_EXISTS.
curl -sS '${merchant}/wallets' \\
  ${key} ${json} \\
  -d '${JSON.stringify(TEST_KEY)}'

# 2. Create an invoice of 49.90 USD. If you run this twice, the Idempotency-Key returns the same answer, not a second invoice.
#    The customer pays at its checkoutUrl: open it in a browser.
curl -sS '${merchant}/invoices' \\
  ${key} ${json} -H 'idempotency-key: ${reference}' \\
  -d '${JSON.stringify(invoice)}'

# 3. Find the invoice by your own reference. GET .../invoices/{id} reads it by its id.
curl -sS '${merchant}/invoices?externalId=${reference}' \\
  ${key}

# 4. Receive events: register an endpoint, then start a receiver in another terminal with the secret from the answer:
#    WEBHOOK_SECRET=whsec_... npm run receiver
curl -sS '${merchant}/webhooks' \\
  ${key} ${json} \\
  -d '${JSON.stringify({ url: "http://127.0.0.1:4242/webhooks", events: ["*"] })}'

# 5. Sign in as the owner: request a code, read it in the development mailbox, and use it. In a browser: ${demo.baseUrl}/sign-in
JAR=$(mktemp)
curl -sS '${auth}/start' -c "$JAR" ${json} -d '${JSON.stringify({ email: demo.ownerEmail })}'
CODE=$(curl -sS '${demo.baseUrl}/dev/mail?to=${demo.ownerEmail}' -H 'accept: application/json' | grep -oE '[0-9]{8}' | head -n 1)
curl -sS '${auth}/verify' -b "$JAR" -c "$JAR" ${json} -d "{\\"email\\":\\"${demo.ownerEmail}\\",\\"code\\":\\"$CODE\\"}"
curl -sS '${demo.baseUrl}/api/v1/merchants' -b "$JAR"
`;
}
