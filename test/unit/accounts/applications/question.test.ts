// Anyone can write the link with an application's request. The user decides by the origin of its callback, and nothing else in the link may mislead
// them.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KEY_PERMISSION_NAMES } from "../../../../src/accounts/api-keys/grant.ts";
import { readQuestion, redirectOf } from "../../../../src/accounts/applications/question.ts";
import { keyPermissionsOfRights, RIGHT_NAMES } from "../../../../src/accounts/applications/rights.ts";

const WOO = [
  "btcpay.store.canviewinvoices",
  "btcpay.store.cancreateinvoice",
  "btcpay.store.canviewstoresettings",
  "btcpay.store.canmodifyinvoices",
  "btcpay.store.cancreatenonapprovedpullpayments",
  "btcpay.store.webhooks.canmodifywebhooks",
];

function asked(fields: Readonly<Record<string, string>>, permissions: readonly string[] = WOO) {
  const query = new URLSearchParams(fields);
  for (const permission of permissions) query.append("permissions", permission);
  return readQuestion(query);
}

describe("an application's request", () => {
  it("from WooCommerce's plugin is parsed into the rights that can be granted, in order, and the names of those that cannot", () => {
    const redirect = "https://shop.example/wp-json/?btcpay-settings-callback";
    expect(asked({ applicationName: "WooCommerce", strict: "true", selectiveStores: "true", redirect })).toEqual({
      ok: true,
      value: {
        application: "WooCommerce",
        redirect: { url: redirect, origin: "https://shop.example" },
        rights: WOO.filter((name) => !name.includes("pullpayments")),
        refused: ["btcpay.store.cancreatenonapprovedpullpayments"],
      },
    });
  });

  it.each([
    ["with a store id", ["btcpay.store.canviewinvoices:8kXyZ"]],
    ["in different upper and lower case", ["BTCPay.Store.CanViewInvoices"]],
    ["twice", ["btcpay.store.canviewinvoices", "btcpay.store.canviewinvoices:1"]],
    ["listed twice in one parameter", ["btcpay.store.canviewinvoices,btcpay.store.canviewinvoices"]],
  ])("is parsed to a single right when the same right is requested %s", (_, permissions) => {
    const read = asked({}, permissions);
    expect(read.ok && read.value.rights).toEqual(["btcpay.store.canviewinvoices"]);
  });

  it.each([
    ["nothing", []],
    ["only rights that cannot be granted", ["unrestricted", "btcpay.server.canmodifyserversettings"]],
    ["names of members that every JavaScript object has", ["constructor", "__proto__", "toString"]],
    [
      "more rights than exist",
      Array.from({ length: 61 }, (_, n) => `btcpay.${n < 30 ? "a" : "b"}.${"x".repeat((n % 30) + 1)}`).concat(WOO),
    ],
  ])("is refused if it asks for %s", (_, permissions) => {
    expect(asked({}, permissions).ok).toBe(false);
  });

  it("has a name on one line, without direction marks, and no longer than a key's name may be", () => {
    const blank = asked({ applicationName: "\u3164\u2800\uffa0", redirect: "https://shop.example/" });
    expect(blank.ok && blank.value.application).toBe("https://shop.example");
    const refused = asked({}, [
      ...WOO,
      "none, all is well.\u2800checked",
      `btcpay.${"x".repeat(80)}`,
      "\u202ebad",
      "unrestricted",
    ]);
    expect(refused.ok && refused.value.refused).toEqual([
      "btcpay.store.cancreatenonapprovedpullpayments",
      "unrestricted",
    ]);
    const read = asked({ applicationName: `  Woo\u202e\n\tCommerce\u0000${"x".repeat(500)}` });
    const name = read.ok ? read.value.application : "";
    expect(name).toMatch(/^Woo Commerce x+$/);
    expect([...name]).toHaveLength(200);
    const nameless = asked({ redirect: "https://shop.example/a" });
    expect(nameless.ok && nameless.value.application).toBe("https://shop.example");
  });
});

describe("the callback", () => {
  it.each([
    ["https://shop.example/cb?x=1", "https://shop.example"],
    ["https://shop.example:8443/cb", "https://shop.example:8443"],
    ["http://localhost:8080/cb", "http://localhost:8080"],
    ["http://127.0.0.1/cb", "http://127.0.0.1"],
    ["https://SHOP.example/CB", "https://shop.example"],
    ["https://shop%2eexample/", "https://shop.example"],
    // The first letter is Cyrillic. The user must see that it is not an s.
    ["https://\u0455hop.example/", "https://xn--hop-ehd.example"],
  ])("%s has the origin %s", (url, origin) => {
    expect(redirectOf(url)).toMatchObject({ ok: true, value: { origin } });
  });

  it.each([
    ["no encryption", "http://shop.example/cb"],
    ["a name that only starts like loopback", "http://localhost.evil.example/"],
    ["loopback in another notation", "http://2130706433.evil.example/"],
    ["a script", "javascript:alert(1)"],
    ["data", "data:text/html,x"],
    ["no scheme", "//evil.example"],
    ["only a path", "/cb"],
    ["a user name that looks like the shop", "https://shop.example@evil.example/"],
    ["an empty user name", "https://@evil.example/"],
    ["a wildcard", "https://*.example/"],
    // A content policy cannot name this host, so the form would be blocked.
    ["an IPv6 address", "http://[::1]:3000/cb"],
    ["a dot at the end of the host", "https://shop.example./"],
    ["an underscore in the host", "https://my_shop.example/"],
    ["a fragment", "https://shop.example/#/evil"],
    ["a backslash", "https:\\\\evil.example"],
    ["a space", "https://shop.example /"],
    ["a line break", "https://shop.example/\nx"],
    ["more than 1,000 characters", `https://shop.example/${"a".repeat(1_000)}`],
  ])("is refused with %s", (_, url) => {
    expect(redirectOf(url).ok).toBe(false);
  });

  it("always goes to the origin that is shown to the user, and that origin fits into a content security policy", () => {
    const piece = fc.constantFrom(
      "https://",
      "http://",
      "shop.example",
      "localhost",
      "@",
      ":",
      "/",
      "?",
      "#",
      "\\",
      ";",
      "'",
      "*",
      " ",
      "%",
      "8443",
      "\u0455",
      ",",
      "[::1]",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const read = redirectOf(pieces.join(""));
        if (!read.ok) return;
        const { url, origin } = read.value;
        expect(new URL(url).origin).toBe(origin);
        expect(origin).toMatch(
          /^(https:\/\/[a-z0-9-]+(\.[a-z0-9-]+)*(:\d+)?|http:\/\/(localhost|127\.0\.0\.1)(:\d+)?)$/,
        );
      }),
      { numRuns: 20_000 },
    );
  });
});

it("every right consists of permissions that a key may hold, and none of them allows changes to keys, teams or wallets", () => {
  for (const right of RIGHT_NAMES) {
    const permissions = keyPermissionsOfRights([right]);
    expect(permissions.length).toBeGreaterThan(0);
    for (const permission of permissions) {
      expect(KEY_PERMISSION_NAMES).toContain(permission);
      expect(permission).not.toMatch(/^(API_KEY|TEAM|PROTECTION|CUSTOMER|AUDIT)_|^WALLET_(?!VIEW)|^MERCHANT_(?!VIEW)/);
    }
  }
});
