// What to do about a failed wrangler command. wrangler's own message is shown above the advice, which explains the consequences for the deployment.

/** The first match is used. The texts are wrangler's and those of Cloudflare's API. */
const KNOWN: readonly (readonly [RegExp, string])[] = [
  [
    /CLOUDFLARE_API_TOKEN environment variable for wrangler|"loggedIn":\s*false|not authenticated|Did not login/,
    "Sign in with `npm run wrangler -- login`, or set CLOUDFLARE_API_TOKEN to a token with the permissions Workers Scripts, D1, Queues and, for a domain, Workers Routes and DNS (edit).",
  ],
  [
    /Authentication error|\[code: (10000|9106|9109)\]/,
    "The token or sign-in may not do this. A token needs the permissions Workers Scripts, D1, Queues and, for a domain, Workers Routes and DNS (edit); `npm run wrangler -- login` asks for all of them.",
  ],
  [
    /More than one account available|mandatory to specify an account ID/,
    "Say which account: --account <id>, or CLOUDFLARE_ACCOUNT_ID.",
  ],
  [
    /maximum number of D1 databases/,
    "Delete a database that is no longer used (wrangler d1 list, wrangler d1 delete), or ask for a higher limit.",
  ],
  [
    /need to register a workers\.dev subdomain|register a workers\.dev subdomain/,
    "The account has no workers.dev subdomain yet: choose one in the dashboard (Workers & Pages, right side), or deploy to a --domain.",
  ],
  [
    /Could not find zone/,
    "The domain belongs to no zone of this account. Add the zone to Cloudflare first, use a host below one that is there, or --workers-dev.",
  ],
  [
    /Custom Domain.*skipped|externally managed DNS records|already exist for these domains/,
    "The host has a DNS record, or is another Worker's. Choose another --domain, or let it be replaced.",
  ],
  [
    /already has a consumer|consumer.*already/i,
    "Another Worker reads this queue. Choose another --name: queues are named after the deployment.",
  ],
  [
    /R2 bucket .*not (be )?found|\[code: 10085\]/i,
    "The bucket of --exports-bucket does not exist: make it with `npm run wrangler -- r2 bucket create <bucket>`, or deploy with --exports-bucket none.",
  ],
  [
    /secrets have not been set/,
    "The file of secrets lacks what is named above. MASTER_KEY is made by this command; a button's deployment asks for it.",
  ],
  [
    /no such table: set_up_links/,
    "The database has no table of set-up links: its migrations are those of an older release. Run this from the release that you deployed.",
  ],
  [
    /Unable to resolve Cloudflare|fetch failed|ECONNRESET|ETIMEDOUT|ENOTFOUND|network connectivity/,
    "Cloudflare could not be reached. Check the connection.",
  ],
  [
    /paid plan|workers\/plans|upgrade your plan/i,
    "This needs the paid plan of Workers: https://dash.cloudflare.com/?to=/:account/workers/plans",
  ],
  [
    /Migration .* failed|migrations? .*errors/i,
    "The migration that failed was rolled back, and those before it stay. The Worker that is deployed still runs, on the tables that it knows.",
  ],
];

export function adviceFor(output: string): string {
  const [, advice] = KNOWN.find(([pattern]) => pattern.test(output)) ?? [];
  return (
    advice ??
    "wrangler's message above says what went wrong. Correct it if it names something of yours; if Cloudflare had a fault, wait a minute."
  );
}
