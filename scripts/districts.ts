// The folders of src, from the top down: each may only import those below it. The import test enforces this for every file, and `npm run
// docs:architecture` draws it.
export const DISTRICTS = [
  ["app", "the entry: requests, crons, queues; the map of routes, OpenAPI, health, settings of the deployment"],
  ["checkout", "pages for customers: choose, pay, receipt; live updates, product pages, signed redirects"],
  [
    "notifications",
    "webhooks, deliveries and their log, receipts by mail, notices, lists of events and of the audit log",
  ],
  ["detection", "watchers of networks, matching of transfers to invoices, payers' claims, resolutions by hand"],
  ["commerce", "wallets and allocation, invoices, amounts, payments, customers, products"],
  ["accounts", "merchants, users, sign-in, sessions, factors, teams, invitations, API keys; who may call what"],
  ["rates", "sources of prices, quotes"],
  ["chains", "networks, assets, addresses, what a transfer is, clients of each family"],
  ["platform", "D1 and its statements, idempotency, outbox and audit records, the HTTP envelope, mail, texts"],
  ["lib", "values without a domain: money, ids, results, time, bytes"],
] as const;

export type District = (typeof DISTRICTS)[number][0];

/** 0 is the top; undefined for a path outside all districts. */
export function floorOf(path: string): number | undefined {
  const floor = DISTRICTS.findIndex(([name]) => path.startsWith(`src/${name}/`));
  return floor === -1 ? undefined : floor;
}
