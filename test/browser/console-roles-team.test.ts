// What each role sees on Developers, Team, Settings and Audit (console-roles-harness.ts).
import { beforeAll, it } from "vitest";
import { ROLES, type Role } from "../../src/accounts/roles/roles.ts";
import { enter } from "./console-entry.ts";
import { EXPECTED_IN_CONSOLE, untilPage } from "./console-harness.ts";
import { signedIn } from "./console-office.ts";
import { ALL, type Area, expectPlaces, type Needs, PLACE_WITHIN_MS, permissionsOf } from "./console-roles-harness.ts";
import { describeInBrowser, openShop, type PageShop, until, useBrowser } from "./harness.ts";
import { emailOf } from "./testbed.ts";

const DELIVERED_WITHIN_MS = 120_000;

interface Shop extends PageShop {
  /** No server answers at this address. */
  readonly endpoint: string;
}

/** The name that the shared server gives its keys. */
const KEY = "Demo secret key";

/** "A member acts only on a role strictly below their own" (decisions 7, Rank). */
function above(role: Role, permission: string): readonly Role[] {
  return ROLES.slice(0, ROLES.indexOf(role)).filter((each) => permissionsOf(each).has(permission));
}

/** "Transfer of ownership, the security policy and deleting a merchant also need the role OWNER." */
const OWNER: readonly Role[] = ["OWNER"];

const developers = (tab: string) => (shop: Shop) => `/console/${shop.merchantId}/developers${tab}`;
const endpointPath = ({ merchantId, endpoint }: Shop) => `/console/${merchantId}/developers/endpoints/${endpoint}`;

const OF_ENDPOINT: Readonly<Record<string, Needs>> = {
  "Send a ping": "webhook:update",
  Edit: "webhook:update",
  Replay: "webhook:update",
  "Rotate secret": "webhook:update",
  "Turn off": "webhook:update",
  "Delete: http://127.0.0.1:9/orders": "webhook:delete",
  "Copy the ID": ALL,
};

/** The other members of the team; no one acts on the owner. */
const OTHERS = ["ADMIN", "MEMBER", "VIEWER"] as const;

/** The emails contain the merchant's id, so the names of buttons are known once the shop exists. */
function teamButtons({ merchantId }: Shop): Readonly<Record<string, Needs>> {
  const ofMembers = OTHERS.flatMap((role) => {
    const email = emailOf(merchantId, role);
    return [
      [`Make owner: ${email}`, OWNER],
      [`Remove: ${email}`, above(role, "team:remove")],
    ] as const;
  });
  const factors = ["Second factor", "Passkey", "Google account", "Verified email address"];
  return {
    ...Object.fromEntries(ofMembers),
    ...Object.fromEntries(factors.map((name) => [`Require: ${name}`, OWNER])),
    "Send again: waiting@example.com": above("VIEWER", "team:invite"),
    "Revoke: waiting@example.com": "team:invite",
    Invite: "team:invite",
    "Leave team": ["ADMIN", "MEMBER", "VIEWER"],
  };
}

const SAVE = "merchant:update";

function placesOf(shop: Shop): readonly Area<Shop>[] {
  return [
    {
      name: "the keys",
      path: developers(""),
      heading: "Developers",
      needs: "api_key:view",
      buttons: {
        "New key": "api_key:create",
        [`28 permissions: ${KEY}`]: ALL,
        [`Edit: ${KEY}`]: "api_key:create",
        [`Rotate: ${KEY}`]: "api_key:create",
        [`Revoke: ${KEY}`]: "api_key:delete",
      },
      sections: { "API keys": "api_key:view" },
    },
    {
      name: "the endpoints",
      path: developers("?tab=endpoints"),
      heading: "Developers",
      needs: "webhook:view",
      buttons: { "New endpoint": "webhook:create" },
      sections: { Endpoints: "webhook:view" },
    },
    {
      name: "the events",
      path: developers("?tab=events&type=invoice.*"),
      heading: "Developers",
      needs: "webhook:view",
      buttons: {},
      sections: { Events: "webhook:view" },
    },
    {
      name: "an endpoint",
      path: endpointPath,
      heading: "127.0.0.1:9",
      needs: "webhook:view",
      buttons: OF_ENDPOINT,
      sections: { Summary: ALL, Deliveries: ALL },
      besides: /invoice\.created/,
    },
    {
      name: "a delivery of it",
      path: endpointPath,
      heading: "127.0.0.1:9",
      needs: "webhook:view",
      buttons: { ...OF_ENDPOINT, "Send again: invoice.created": "webhook:update" },
      sections: { Summary: ALL, Deliveries: ALL },
      opens: /invoice\.created/,
      opened: "Request body that endpoints receive",
      besides: /^(Pending|Failed|Delivered)invoice\.created/,
    },
    {
      name: "the team",
      path: ({ merchantId }) => `/console/${merchantId}/team`,
      heading: "Team",
      needs: "team:view",
      buttons: teamButtons(shop),
      sections: { Members: ALL, Invitations: ALL, "Required sign-in methods": ALL, Roles: ALL },
    },
    {
      name: "the settings",
      path: ({ merchantId }) => `/console/${merchantId}/settings`,
      heading: "Settings",
      needs: "merchant:view",
      buttons: {
        "Save: Merchant": SAVE,
        "Save: Brand": SAVE,
        "Choose an image": SAVE,
        "Save: When an invoice is paid": SAVE,
        "Save: Time limits": SAVE,
        "Save: Email": SAVE,
        "Save: Wallet change delay": SAVE,
        "Save: Sites that may embed the checkout": SAVE,
        "Save: Limits": SAVE,
        "Delete merchant": OWNER,
      },
      sections: {
        Merchant: ALL,
        Brand: ALL,
        "When an invoice is paid": ALL,
        "Time limits": ALL,
        Email: ALL,
        "Wallet change delay": ALL,
        "Sites that may embed the checkout": ALL,
        Limits: ALL,
        "Delete merchant": OWNER,
      },
    },
    {
      name: "the audit log",
      path: ({ merchantId }) => `/console/${merchantId}/audit`,
      heading: "Audit",
      needs: "audit:view",
      buttons: { "Export as CSV": ALL },
      besides: / (added a wallet|created “|created the endpoint|invited )/,
    },
    {
      name: "the audit log of nothing",
      path: ({ merchantId }) => `/console/${merchantId}/audit?action=wallet.deleted`,
      heading: "Audit",
      needs: "audit:view",
      buttons: { "Export as CSV": ALL, "Show all entries": ALL },
    },
  ];
}

/** The shop has an endpoint that was sent something, and a pending invitation. */
async function connectedShop(): Promise<Shop> {
  const shop = await openShop(["USDT"]);
  const { id } = await shop.call<{ readonly id: string }>("POST", "/webhooks", {
    url: "http://127.0.0.1:9/orders",
    events: ["invoice.created"],
  });
  await shop.createInvoice();
  const sent = () => shop.call<{ readonly data: readonly object[] }>("GET", `/webhooks/${id}/deliveries`);
  await until(sent, ({ data }) => data.length > 0, DELIVERED_WITHIN_MS);
  return { ...shop, endpoint: id };
}

describeInBrowser("a member of the team", () => {
  const browsing = useBrowser();
  let shop: Shop;
  beforeAll(async () => {
    shop = await connectedShop();
    const asOwner = await signedIn(shop.baseUrl, emailOf(shop.merchantId, "OWNER"));
    const path = `/api/v1/merchants/merchant/${shop.merchantId}/team/invitations`;
    await asOwner("POST", path, { email: "waiting@example.com", role: "VIEWER" });
  });

  const patience = { timeout: 10 * PLACE_WITHIN_MS };
  it.each(ROLES)(
    "with the role %s sees exactly what the role allows on the merchant's own pages",
    patience,
    async (role) => {
      const { page } = await browsing.visit({ reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE });
      await enter(page.context(), shop.baseUrl, emailOf(shop.merchantId, role));
      await page.goto(`/console/${shop.merchantId}`);
      await untilPage(page, "Home");
      await expectPlaces(page, { places: placesOf(shop), shop, role });
    },
  );
});
