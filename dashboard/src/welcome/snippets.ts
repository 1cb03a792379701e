// Code that creates an invoice, ready to paste.

interface Where {
  /** The service's URL. */
  readonly origin: string;
  readonly merchantId: string;
  /** The API key's secret. */
  readonly secret: string;
}

export const SNIPPET_NAMES = { curl: "curl", fetch: "fetch" } as const;
export type SnippetName = keyof typeof SNIPPET_NAMES;

export function snippets({ origin, merchantId, secret }: Where): Readonly<Record<SnippetName, string>> {
  const url = `${origin}/api/v1/merchants/merchant/${merchantId}/invoices`;
  return {
    curl: [
      `curl ${url} -H 'x-api-key: ${secret}' \\`,
      `  -H 'content-type: application/json' -H 'idempotency-key: order-1001' \\`,
      `  -d '{ "name": "Order 1001", "rawAmount": 49.9, "currency": "USD" }'`,
    ].join("\n"),
    fetch: [
      `const headers = { "x-api-key": "${secret}", "content-type": "application/json", "idempotency-key": "order-1001" };`,
      `const body = JSON.stringify({ name: "Order 1001", rawAmount: 49.9, currency: "USD" });`,
      `const { checkoutUrl } = await (await fetch("${url}", { method: "POST", headers, body })).json();`,
    ].join("\n"),
  };
}
