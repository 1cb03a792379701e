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
  [
    "commerce",
    "wallets and allocation, invoices, amounts, payments, customers, products; invoices as BTCPay Server's plugins ask for them",
  ],
  ["accounts", "merchants, users, sign-in, sessions, factors, teams, invitations, API keys; who may call what"],
  ["rates", "sources of prices, quotes"],
  ["chains", "networks, assets, addresses, what a transfer is, clients of each family"],
  ["platform", "D1 and its statements, idempotency, outbox and audit records, the HTTP envelope, mail, texts"],
  ["lib", "values without a domain: money, ids, results, time, bytes"],
] as const;

type District = (typeof DISTRICTS)[number][0];

/** The position of a path's district, 0 for the top; undefined for a path outside all districts. */
export function floorOf(path: string): number | undefined {
  const floor = DISTRICTS.findIndex(([name]) => path.startsWith(`src/${name}/`));
  return floor === -1 ? undefined : floor;
}

/**
 * The features of each district, floor by floor from the top down: their folders, and "" for files outside them. A feature may import from lower
 * floors of its district, but not from its own floor or above. The import test enforces it.
 */
export const FEATURES: Readonly<Record<District, readonly (readonly string[])[]>> = {
  app: [
    [""],
    ["health"],
    ["set-up"],
    ["console", "mcp"],
    ["configuration", "docs", "explorers", "keys", "mailbox", "test-chain"],
  ],
  checkout: [["live", "storefront"], ["pay"], ["signed-redirect"]],
  notifications: [
    ["events", "notices", "operator-alerts", "readiness"],
    ["attention", "deliveries", "delivery-log", "deployment-status"],
    ["audit", "merchant-summaries", "receipts", "webhooks"],
  ],
  detection: [["networks", "watchers"], ["rereads", "resolutions"], ["passes"], ["matching"], ["claims", "growth"]],
  commerce: [
    ["greenfield", "restores"],
    ["invoices"],
    ["exports", "payment-methods"],
    ["public-holds", "reports", "search", "settlement", "wallet-links"],
    ["invoice-records", "wallets"],
    ["amounts", "customers", "payments", "wallet-alerts"],
    ["cursors", "products", "quotes", "ranks", "search-index", "unsettled", "wallet-records"],
  ],
  accounts: [
    ["applications", "set-up", "sign-in", "suspension"],
    ["api-keys", "factors", "invitations", "merchants", "operators"],
    ["identities", "images", "passkeys", "teams", "totp", "user-account"],
    ["pipeline", "protections"],
    ["auth", "email-codes"],
    ["merchant-records", "security-policies", "sessions"],
    ["notices", "roles", "users"],
  ],
  rates: [[""]],
  chains: [["dispatch"], ["tron"], ["bitcoin", "evm"], ["secrets", "sources"], ["encodings", "registry"]],
  platform: [
    ["mail"],
    ["http"],
    ["idempotency"],
    ["changes", "deployment", "events", "keys", "merchant-exports"],
    ["audit", "jobs"],
    ["challenge", "db"],
    ["", "directory", "resolver", "revocations", "texts"],
  ],
  lib: [[""]],
};

/** The feature of a file in a district, as `district/feature`; `district/` for a file in no feature's folder. */
export function featureOf(path: string): string {
  const [, district = "", feature = "", ...rest] = path.split("/");
  return `${district}/${rest.length > 0 ? feature : ""}`;
}

/** Whether the files belong to two features of one district, and the second is not on a lower floor than the first. */
export function isAcrossFeatures(from: string, target: string): boolean {
  const [one, other] = [featureOf(from), featureOf(target)];
  const floors = DISTRICTS.flatMap(([name]) => FEATURES[name].map((floor) => floor.map((each) => `${name}/${each}`)));
  const place = (feature: string) => floors.findIndex((floor) => floor.includes(feature));
  return one !== other && floorOf(from) === floorOf(target) && place(other) !== -1 && place(one) >= place(other);
}
