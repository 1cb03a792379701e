// What `npm test` selects from the projects that it does not run in full: tests of the main path of every feature on workerd, and a short schedule of
// every simulator. `npm run test:all` runs everything. test/unit/selection.test.ts compares these lists with src/ and with the files in test/.

/** Features of src/, each with the files below test/worker/ that test its main path. */
export const STORIES = {
  "accounts/api-keys": ["accounts/api-keys", "accounts/api-key-macs"],
  "accounts/applications": ["accounts/applications"],
  "accounts/auth": ["accounts/sessions"],
  "accounts/email-codes": ["accounts/email-codes"],
  "accounts/factors": ["accounts/step-up"],
  "accounts/identities": ["accounts/linked-identities"],
  "accounts/images": ["accounts/images"],
  "accounts/invitations": ["accounts/accept-invitations", "accounts/invitations"],
  "accounts/merchant-records": ["accounts/merchants"],
  "accounts/merchants": ["accounts/merchants"],
  "accounts/notices": ["accounts/new-accounts"],
  "accounts/operators": ["accounts/operators"],
  "accounts/passkeys": ["accounts/register-passkeys"],
  "accounts/pipeline": ["app/conventions", "accounts/routes-of"],
  "accounts/protections": ["accounts/protections"],
  "accounts/roles": ["accounts/members"],
  "accounts/security-policies": ["accounts/members"],
  "accounts/sessions": ["accounts/member-sessions"],
  "accounts/set-up": ["accounts/set-up"],
  "accounts/sign-in": ["accounts/sign-in"],
  "accounts/suspension": ["accounts/settings-guards"],
  "accounts/teams": ["accounts/team-plans", "accounts/members"],
  "accounts/totp": ["accounts/totp"],
  "accounts/user-account": ["accounts/settings"],
  "accounts/users": ["accounts/new-accounts"],
  "app/configuration": ["app/configuration"],
  "app/console": ["app/console"],
  "app/docs": ["app/reference-answers"],
  "app/explorers": ["app/explorers"],
  "app/health": ["app/work-lines"],
  "app/keys": ["app/stored-origin"],
  "app/mailbox": ["platform/mail"],
  "app/mcp": ["app/mcp"],
  "app/set-up": ["accounts/set-up"],
  "app/test-chain": ["app/test-chain"],
  "checkout/live": ["checkout/live-team"],
  "checkout/pay": ["checkout/checkout", "checkout/checkout-rooms"],
  "checkout/signed-redirect": ["checkout/returns"],
  "checkout/storefront": ["checkout/storefront"],
  "commerce/amounts": ["commerce/amount-allocator", "commerce/release-amounts"],
  "commerce/cursors": ["detection/watch-begins"],
  "commerce/customers": ["commerce/customer-summary"],
  "commerce/exports": ["platform/merchant-exports"],
  "commerce/greenfield": ["commerce/greenfield/stories"],
  "commerce/invoice-records": ["commerce/invoice-origin"],
  "commerce/invoices": ["commerce/active-invoices", "commerce/create-replays", "commerce/resolve-invoice"],
  "commerce/payment-methods": ["commerce/parallel-activations"],
  "commerce/payments": ["commerce/payments-api"],
  "commerce/products": ["commerce/product-images"],
  "commerce/public-holds": ["commerce/public-plans"],
  "commerce/quotes": ["commerce/payment-evidence"],
  "commerce/ranks": ["commerce/held-no-longer"],
  "commerce/reports": ["commerce/report-totals"],
  "commerce/restores": ["commerce/restored-watch", "commerce/restore-stages"],
  "commerce/search": ["commerce/search"],
  "commerce/search-index": ["commerce/search-refresh"],
  "commerce/settlement": ["commerce/resolve-invoice"],
  "commerce/unsettled": ["commerce/rests"],
  "commerce/wallet-alerts": ["commerce/wallet-delay"],
  "commerce/wallet-links": ["commerce/wallet-alerts"],
  "commerce/wallet-records": ["commerce/altered-wallets"],
  "commerce/wallets": ["commerce/frozen-wallets", "commerce/altered-wallets", "commerce/parallel-activations"],
  "detection/claims": ["detection/late-claims"],
  "detection/growth": ["detection/watch-growth"],
  "detection/matching": ["detection/miners-clocks", "detection/money-guards", "detection/changed-effects"],
  "detection/networks": ["detection/switches"],
  "detection/passes": ["detection/watch-network", "detection/watch-by-address"],
  "detection/rereads": ["detection/reopen-payment"],
  "detection/resolutions": ["detection/released-amounts"],
  "detection/watchers": ["detection/network-watcher", "detection/watch-closing"],
  "notifications/attention": ["notifications/attention"],
  "notifications/audit": ["notifications/audit-events"],
  "notifications/deliveries": ["notifications/delivery-races", "notifications/merchant-workers"],
  "notifications/delivery-log": ["notifications/delivery-log"],
  "notifications/deployment-status": ["app/operator-status", "app/healthz-networks"],
  "notifications/events": ["notifications/events"],
  "notifications/merchant-summaries": ["app/operator-status"],
  "notifications/notices": ["notifications/failing-news"],
  "notifications/operator-alerts": ["app/data-points"],
  "notifications/readiness": ["notifications/readiness"],
  "notifications/receipts": ["notifications/receipt-limits"],
  "notifications/webhooks": ["notifications/webhook-changes", "notifications/webhook-secrets"],
  "platform/audit": ["commerce/audit-refusals"],
  "platform/challenge": ["checkout/challenged-forms"],
  "platform/changes": ["platform/prepared-statement"],
  "platform/db": ["platform/prepared-statement", "app/round-trips"],
  "platform/deployment": ["app/locations", "app/configuration", "commerce/restored-database"],
  "platform/directory": ["platform/directory"],
  "platform/events": ["notifications/event-retention"],
  "platform/http": ["platform/rate-limit"],
  "platform/idempotency": ["platform/idempotency"],
  "platform/jobs": ["app/jobs"],
  "platform/keys": ["app/key-rotation"],
  "platform/mail": ["platform/mail"],
  "platform/merchant-exports": ["platform/merchant-exports", "platform/import-export"],
  "platform/resolver": ["notifications/endpoint-url"],
  "platform/revocations": ["accounts/api-key-secrets"],
  "platform/texts": ["platform/checkout-formats"],
} as const satisfies Record<string, readonly string[]>;

/** Files that `npm test` leaves out of projects that it otherwise runs in full: each takes 15 to 60 seconds on a busy machine. */
export const LEFT_OUT = [
  // Pack the client and install it into new projects.
  "test/unit/client/package.test.ts",
  "test/contract/8-client-package.test.ts",
  // Compiles a copy of the repository in which recipes were followed, and runs tests there.
  "test/unit/scripts/followed-recipes.test.ts",
  // Thousands of random histories.
  "test/unit/commerce/invoices/settle-histories.test.ts",
  // Send every request of the guides, and move whole shops in, over HTTP.
  "test/contract/guides.test.ts",
  "test/contract/move-btcpay.test.ts",
  "test/contract/move-interface.test.ts",
  // Wait for retries, and for servers that are restarted.
  "test/contract/6-deliveries.test.ts",
  "test/contract/wrangler-dev.test.ts",
] as const;

/** Runs a few schedules of each simulator that needs minutes. SHORTENED lists the files below test/simulation/ that run all of their schedules. */
export const SHORT_SCHEDULES = "test/simulation/engine/short-schedules.test.ts";
export const SHORTENED = [
  "accounts/teams",
  "commerce/amounts",
  "commerce/invoices",
  "detection/as-of",
  "detection/growth",
  "detection/hostile-addresses",
  "detection/payments",
  "detection/refused-elsewhere",
  "detection/reorgs",
  "detection/watcher",
  "engine/simulator",
  "notifications/deliver",
  "platform/groups",
  "platform/run-once",
] as const;

/** Simulators that take only seconds, so all of their schedules run. */
export const QUICK_SIMULATORS = [
  "commerce/amount-places",
  "commerce/job-runs",
  "commerce/search",
  "commerce/values",
  "detection/address-rounds",
  "detection/apply-faults",
  "detection/asleep",
  "detection/block-chunks",
  "detection/bounded-passes",
  "detection/desk",
  "detection/lasting-faults",
  "detection/loose-payments",
  "detection/meant",
  "detection/named",
  "detection/outages",
  "detection/pauses",
  "detection/platform-limits",
  "detection/refusals",
  "detection/rereads",
  "detection/rollups",
  "detection/second-opinions",
  "detection/second-tron",
  "detection/shared-blocks",
  "detection/watch-begins",
  "detection/watch-costs",
  "detection/watcher-object",
  "platform/batch-tries",
  "platform/group-calls",
  "platform/joined-statements",
] as const;

/** Simulators that would find nothing on a short schedule: they check a bound at full size, or an average over many histories. */
export const AT_FULL_SIZE = [
  "commerce/reports",
  "detection/closing-keeps-up",
  "detection/flood-bounds",
  "detection/flood-elsewhere",
  "detection/flood-faults",
  "detection/floods",
  "detection/forks",
  "detection/full-looks",
  "detection/limited-sources",
  "detection/long-histories",
  "detection/mempool-laps",
  "detection/open-payments",
  "detection/second-source",
  "detection/tron-floods",
  "detection/turns",
  "detection/turns-ring",
  "platform/merchant-exports",
] as const;

/** Files that take more than a minute, the longest of each project first. They start before all other files of their project (mixed-order.ts). */
export const LONGEST = [
  "test/browser/console-look.test.ts",
  "test/browser/console-hostile.test.ts",
  "test/chain/app/twin-rotation.test.ts",
  "test/chain/app/twin-day.test.ts",
  "test/chain/app/twin-upgrade.test.ts",
  "test/chain/guides/shops.test.ts",
  "test/simulation/detection/as-of.test.ts",
  "test/simulation/detection/reorgs.test.ts",
  "test/simulation/platform/merchant-exports.test.ts",
  "test/simulation/platform/groups.test.ts",
  "test/simulation/detection/payments.test.ts",
] as const;

/**
 * Which of a project's files a run includes: `npm test` runs the selection, CI then runs the rest, and a run without TESTS runs all of them.
 */
export type Part = "selection" | "rest" | undefined;

interface Files {
  readonly include: string[];
  readonly exclude: string[];
}

export function filesOf(project: string, part: Part): Files {
  const whole = `test/${project}/**/*.test.ts`;
  const selected = selectedOf(project);
  if (part === undefined) return { include: [whole], exclude: [] };
  if (part === "selection") return selected;
  // The rest consists of the files that the selection leaves out.
  if (selected.exclude.length > 0) return { include: selected.exclude, exclude: [] };
  return { include: [whole], exclude: selected.include };
}

function selectedOf(project: string): Files {
  const whole = `test/${project}/**/*.test.ts`;
  switch (project) {
    case "unit":
    case "contract":
      return { include: [whole], exclude: LEFT_OUT.filter((path) => path.startsWith(`test/${project}/`)) };
    case "worker":
      return { include: workerStories(), exclude: [] };
    case "simulation":
      return {
        include: [SHORT_SCHEDULES, ...QUICK_SIMULATORS.map((name) => `test/simulation/${name}.test.ts`)],
        exclude: [],
      };
    default:
      return { include: [], exclude: [] };
  }
}

/** The paths of all STORIES, without duplicates. */
export function workerStories(): string[] {
  return [...new Set(Object.values(STORIES).flat())].map((story) => `test/worker/${story}.test.ts`);
}
