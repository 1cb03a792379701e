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

/** A map, set or list that grows, as a field or at module scope. Sets of constants are not matched, because they get their members at once. */
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
  // A statement's effect on listeners must be a typed value, so that the compiler reports code that ignores it.
  ["attaches hidden members to an object", /\bSymbol\(|Object\.create\(/, []],
  ["opens a Durable Object", /\.(getByName|idFromName|idFromString|newUniqueId)\(/, ["lib/object-of.ts"]],
  // Every response is `no-store` except these: the API reference, public images, public keys, and a product's form in the browser that requested it.
  [
    "sets how long a response may be cached",
    /cache-control/i,
    [
      "platform/http/security-headers.ts",
      "app/docs/reference.ts",
      "accounts/images/routes.ts",
      "checkout/signed-redirect/routes.ts",
      "checkout/storefront/routes.ts",
    ],
  ],
  // Cache keys of the edge include neither the merchant nor the caller.
  ["uses the edge's cache", /\bcaches\.(?:default|open)|cacheEverything|cacheTtl/, []],
  // These requests follow no redirect, because its target would be unchecked.
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
  // A leftover timer keeps an object awake. The mailbox page sets its timer in the browser.
  [
    "sets a timer",
    /\b(setTimeout|setInterval|scheduler\.wait)\(|AbortSignal\.timeout\(/,
    ["lib/sleep.ts", "app/mailbox/page.ts"],
  ],
  // The types of the environment declare this binding.
  ["names the binding of the database", /\bDB\b/, ["app/env.d.ts", "platform/db/databases.ts"]],
  // Deployers choose the names of queues. A Worker with a fixed name would work only with that name.
  ["names a queue", /["'`]edgetill-[a-z]+["'`]/, []],
  ["writes to the console", /\bconsole\.\w+\(/, ["lib/log.ts", "rates/rate-book.ts", "rates/rate-source.ts"]],
] as const)("no file %s, except for the listed files", (_, pattern, files) => {
  expect(sources.length).toBeGreaterThan(500);
  expect(sources.filter(([, text]) => pattern.test(text)).map(([path]) => path)).toEqual(
    expect.arrayContaining([...files]),
  );
  const elsewhere = sources.filter(([path, text]) => pattern.test(text) && !files.some((file) => file === path));
  expect(elsewhere.map(([path]) => path)).toEqual([]);
});

const ofConsole = sourcesOf("dashboard/src");

it.each([
  // The number fields of Mantine and of browsers choose their own thousands separator.
  ["has its own number field", /\bNumberInput\b|inputMode="decimal"/, []],
  // The field for the digits of an emailed code.
  ["lets the browser parse numbers", /type="number"|valueAsNumber/, ["sign-in/sign-in-form.tsx"]],
  ["parses numbers in texts", /\bparse(Float|Int)\b|\.replace(All)?\(\s*["'/]\\?[,.]["'/]/, []],
  ["parses a typed amount", /\breadAmount\b/, ["shell/amounts.ts"]],
  [
    "converts a text to a number",
    /\bNumber\(/,
    [
      "shell/amounts.ts",
      // Numbers that are chosen from a list and not typed.
      "developers/key-row.tsx",
      "developers/new-key.tsx",
      "endpoint/endpoint-actions.tsx",
      "invoices/new-invoice-form.tsx",
      "settings/duration-field.tsx",
      // Amounts from the service and not typed: heights in a chart, ratios, and whether an amount is above 0.
      "home/day-bars.tsx",
      "home/sums.ts",
      "reports/totals-sections.tsx",
      "shell/formats.ts",
      "invoices/methods-section.tsx",
      "invoices/status.tsx",
      // Parts of a date, an order in a list, and the position of a digit.
      "audit/days.ts",
      "wallets/pairs.ts",
      "sign-in/sign-in-form.tsx",
    ],
  ],
] as const)("no file of the console %s, except for the listed files", (_, pattern, files) => {
  expect(ofConsole.length).toBeGreaterThan(200);
  const found = ofConsole.filter(([, text]) => pattern.test(text)).map(([path]) => path);
  expect(found.toSorted()).toEqual([...files].toSorted());
});

it("every collection that outlives a request is listed with its limit", () => {
  const platform = readFileSync(join(import.meta.dirname, "../../docs/design/platform.md"), "utf8");
  const [, section = ""] = /\n### State that outlives a request\n([\s\S]*?)\n##+ /.exec(platform) ?? [];
  const listed = [...section.matchAll(/^\| `([\w./-]+\.ts)`/gm)].map(([, path]) => path);
  const found = sources.filter(([, text]) => BOOK.test(text)).map(([path]) => path);
  expect(found.length).toBeGreaterThan(5);
  expect(listed.toSorted()).toEqual(found.toSorted());
});
