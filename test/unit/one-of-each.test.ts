import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

function sourcesOf(folder: string): readonly (readonly [path: string, text: string])[] {
  const root = join(import.meta.dirname, "../..", folder);
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith(".generated.ts") && !path.includes("/browser"))
    .map((path) => [path, readFileSync(join(root, path), "utf8")] as const);
}

const sources = sourcesOf("src");

/** A map, set or list that grows with use, as a field or at module scope; sets of constants get their members at once. */
const BOOK =
  /^(?:const|let) \w+.* = (?:new (?:Weak)?(?:Map|Set)\b.*\(\)|\[\]);|^ {2}(?:readonly )?#\w+\b.* = (?:new (?:Weak)?(?:Map|Set)\b.*\(\)|\[\]);/m;

it.each([
  ["sends a batch", /\.batch\(/, ["platform/db/batch.ts"]],
  ["names a private member of drizzle", /\b_prepare\b|\bBatchItem\b/, []],
  [
    "commits a batch outside of the loop of a change (architecture.md says why)",
    /\bcommit(Batch|Change)\(/,
    [
      "platform/db/commit-batch.ts",
      "platform/changes/change.ts",
      "platform/changes/commit-change.ts",
      "accounts/identities/begin-attempt.ts",
      "accounts/passkeys/begin-passkey.ts",
      "accounts/email-codes/send-code.ts",
      "accounts/passkeys/verify-passkey.ts",
      "accounts/invitations/send-waiting.ts",
      "notifications/deliveries/disable-endpoint.ts",
      "commerce/invoices/change-invoice.ts",
      "detection/matching/record-observations.ts",
      "commerce/restores/recover-place.ts",
      "commerce/restores/replay-revocation.ts",
    ],
  ],
  // What a statement means to others is a typed value, so the compiler reports who forgets it.
  ["attaches something to another's object", /\bSymbol\(|Object\.create\(/, []],
  ["opens a Durable Object", /\.(getByName|idFromName|idFromString|newUniqueId)\(/, ["lib/object-of.ts"]],
  // Every answer is `no-store` except these: the API reference, public images, public keys, and a product's form in the browser that asked for it.
  [
    "sets how long an answer may be cached",
    /cache-control/i,
    [
      "platform/http/security-headers.ts",
      "app/docs/reference.ts",
      "accounts/images/routes.ts",
      "checkout/signed-redirect/routes.ts",
      "checkout/storefront/routes.ts",
    ],
  ],
  // Its keys name no merchant and no caller.
  ["uses the edge's cache", /\bcaches\.(?:default|open)|cacheEverything|cacheTtl/, []],
  // None follows a redirect, since its target is unchecked.
  [
    "sends a request to another host",
    /redirect: "manual"/,
    [
      "platform/mail/resend-client.ts",
      "notifications/webhooks/receiver-client.ts",
      "lib/fetch-text.ts",
      "accounts/identities/provider-client.ts",
    ],
  ],
  ["follows a redirect", /redirect: "(?:follow|error)"/, []],
  ["reads a body chunk by chunk", /\.getReader\(|for await \(const \w+ of [\w.]*body\b/, ["lib/read-bytes.ts"]],
  // A leftover timer keeps an object awake. The mailbox page sets its own in the browser.
  [
    "sets a timer",
    /\b(setTimeout|setInterval|scheduler\.wait)\(|AbortSignal\.timeout\(/,
    ["lib/sleep.ts", "app/mailbox/page.ts"],
  ],
  // Environment types declare it.
  ["names the binding of the database", /\bDB\b/, ["app/env.d.ts", "platform/db/databases.ts"]],
  // Deployers choose the names: a Worker that compares with one in wrangler.toml works under that name only.
  ["names a queue", /["'`]edgetill-[a-z]+["'`]/, []],
  ["writes to the console", /\bconsole\.\w+\(/, ["lib/log.ts", "rates/rate-book.ts", "rates/rate-source.ts"]],
] as const)("no file %s, except those made for it", (_, pattern, files) => {
  expect(sources.length).toBeGreaterThan(500);
  expect(sources.filter(([, text]) => pattern.test(text)).map(([path]) => path)).toEqual(
    expect.arrayContaining([...files]),
  );
  const elsewhere = sources.filter(([path, text]) => pattern.test(text) && !files.some((file) => file === path));
  expect(elsewhere.map(([path]) => path)).toEqual([]);
});

const ofConsole = sourcesOf("dashboard/src");

it.each([
  // Each of them has its own idea of a thousands separator.
  ["has its own number field", /\bNumberInput\b|inputMode="decimal"/, []],
  // The digits of an emailed code.
  ["lets the browser parse numbers", /type="number"|valueAsNumber/, ["sign-in/sign-in-form.tsx"]],
  ["parses numbers in texts", /\bparse(Float|Int)\b|\.replace(All)?\(\s*["'/]\\?[,.]["'/]/, []],
  ["parses a typed amount", /\breadAmount\b/, ["shell/amounts.ts"]],
  [
    "converts a text to a number",
    /\bNumber\(/,
    [
      "shell/amounts.ts",
      // Choices from a list, not typed.
      "developers/key-row.tsx",
      "developers/new-key.tsx",
      "endpoint/endpoint-actions.tsx",
      "invoices/new-invoice-form.tsx",
      "settings/duration-field.tsx",
      // Amounts of the service: heights of a chart, ratios, and whether one is above 0.
      "home/day-bars.tsx",
      "home/sums.ts",
      "reports/totals-sections.tsx",
      "shell/formats.ts",
      "invoices/methods-section.tsx",
      "invoices/status.tsx",
      // Parts of a date, a list's order, a digit's position.
      "audit/days.ts",
      "wallets/pairs.ts",
      "sign-in/sign-in-form.tsx",
    ],
  ],
] as const)("no file of the console %s, except those made for it", (_, pattern, files) => {
  expect(ofConsole.length).toBeGreaterThan(200);
  const found = ofConsole.filter(([, text]) => pattern.test(text)).map(([path]) => path);
  expect(found.toSorted()).toEqual([...files].toSorted());
});

it("every collection that outlives a request is listed with its limit", () => {
  const platform = readFileSync(join(import.meta.dirname, "../../docs/design/platform.md"), "utf8");
  const [, section = ""] = /\n### What outlives a request\n([\s\S]*?)\n##+ /.exec(platform) ?? [];
  const listed = [...section.matchAll(/^\| `([\w./-]+\.ts)`/gm)].map(([, path]) => path);
  const found = sources.filter(([, text]) => BOOK.test(text)).map(([path]) => path);
  expect(found.length).toBeGreaterThan(5);
  expect(listed.toSorted()).toEqual(found.toSorted());
});
