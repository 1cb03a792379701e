// Every operation with an id in its path, by callers with every permission and a recent factor: ids of another merchant or user, or of another kind,
// must be answered like unknown ids. The same request with the caller's own id works, so no refusal here is due to permission, factor or body.
import { beforeAll, describe, expect, it } from "vitest";
import { SECRET_KEY_PERMISSIONS } from "../../../src/accounts/roles/permissions.ts";
import { SPECS } from "../../../src/app/app.ts";
import { encodeCursor } from "../../../src/lib/pagination.ts";
import type { RouteSpec } from "../../../src/platform/http/route.ts";
import { type Answer, type Ask, deploymentWith, expectRefusal } from "../../support/access.ts";
import { nameOf, pathOf, UNKNOWN_ULID } from "../../support/access-attempt.ts";
import { OPEN, PAGES } from "../../support/access-table.ts";
import { type FullShop, fullShop } from "../../support/full-shop.ts";
import { storedRows } from "../../support/production.ts";
import { membersOf } from "../../support/protections.ts";
import { freshTeam } from "../../support/teams.ts";
import { USDT } from "../../support/wallet-bodies.ts";
import { MUTED } from "../../support/webhooks.ts";
import { document, operationOf, useDocument } from "./reference-harness.ts";

/** Operations whose ids belong to the deployment, or whose id alone is enough to open a page. */
const UNOWNED: readonly string[] = [
  ...OPEN,
  ...PAGES,
  "POST /api/v1/me/identities/:provider",
  ...SPECS.filter(({ isOperatorOnly }) => isOperatorOnly).map(nameOf),
];
const DAY_MS = 86_400_000;

/** Bodies with which the operations succeed. */
const BODIES: Readonly<Record<string, object>> = {
  updateWallet: { isEnabled: false },
  updateInvoice: { name: "Another name" },
  resolveInvoice: { action: "DISMISS", reason: "A test" },
  activatePaymentMethod: USDT,
  resolvePayment: { action: "IGNORE", reason: "A test" },
  updateProduct: { name: "Tea" },
  updateCustomer: { name: "Ann" },
  updateApiKey: { name: "Server" },
  rotateApiKey: { overlapHours: 0 },
  updateWebhook: { description: "Orders" },
  replayEvents: { from: new Date(Date.now() - DAY_MS).toISOString(), to: new Date(Date.now() + DAY_MS).toISOString() },
  changeRole: { role: "VIEWER" },
  updatePasskey: { name: "Phone" },
};
/** Refusals caused by the state of the fixture's rows, which come after the ownership check. */
const REFUSED_FOR_ITS_STATE: Readonly<Record<string, string>> = {
  resolveInvoice: "NOTHING_TO_REVIEW",
  deleteWallet: "WALLET_HAS_ACTIVE_PAYMENTS",
  previewAddresses: "WALLET_IS_NOT_XPUB",
  exportRecovery: "WALLET_IS_NOT_XPUB",
};
/** An invitation for another user is refused with a specific code, because users may have signed in with the wrong one of their addresses. */
const SAID_OF_ANOTHERS: Readonly<Record<string, string>> = { acceptInvitationById: "INVITATION_EMAIL_MISMATCH" };

const paramsOf = (spec: RouteSpec) =>
  [...spec.path.matchAll(/:(\w+)/g)]
    .map(([, name = ""]) => name)
    .filter((name) => name !== "merchantId" && name !== "provider");
const owned = SPECS.filter((spec) => paramsOf(spec).length > 0 && !UNOWNED.includes(nameOf(spec)));

const send = deploymentWith({ ...MUTED, RATE_LIMIT_PER_MINUTE: "100000" } as Partial<Env>);
let mine: FullShop;
let theirs: FullShop;

beforeAll(async () => {
  [mine, theirs] = [await fullShop(send), await fullShop(send)];
});

/** All callers with every permission at this merchant: the owner, and a key if keys may call the route. */
function callersOf({ callers, permission }: RouteSpec): readonly Ask[] {
  const isForKeys = callers === "MEMBER_OR_KEY" && SECRET_KEY_PERMISSIONS.some((each) => each === permission);
  return [{ headers: mine.headers }, ...(isForKeys ? [{ key: mine.key }] : [])];
}

const said = (answer: Answer) => {
  const { requestId, ...rest } = answer.json ?? {};
  return [answer.status, rest];
};

async function call(spec: RouteSpec, ids: Readonly<Record<string, string>>, by: Ask, shop = mine): Promise<Answer> {
  const body = BODIES[spec.operationId];
  const path = pathOf(spec, { ...ids, merchantId: shop.merchantId });
  return send(path, { method: spec.method, ...by, ...(body === undefined ? {} : { body }) });
}

describe.each(owned.map((spec) => [nameOf(spec), spec] as const))("%s", (_, spec) => {
  const params = paramsOf(spec);
  const idsIn = ({ ids }: FullShop) => Object.fromEntries(params.map((name) => [name, ids[name] ?? ""]));

  it("answers another merchant's id, or an id of the wrong kind, like an unknown one, and changes nothing", async () => {
    const before = await storedRows();
    for (const by of callersOf(spec)) {
      for (const place of params) {
        // `pathOf` fills a missing parameter with an unknown id.
        const { [place]: own, ...others } = idsIn(mine);
        const unknown = await call(spec, others, by);
        expectRefusal(unknown, 404, expect.stringMatching(/_NOT_FOUND$/));
        const foreign = await call(spec, { ...others, [place]: theirs.ids[place] ?? "" }, by);
        const code = SAID_OF_ANOTHERS[spec.operationId];
        if (code === undefined) expect([place, said(foreign)]).toEqual([place, said(unknown)]);
        else expectRefusal(foreign, 403, code);
        for (const id of Object.values(mine.ids).filter((id) => id !== own))
          expect([place, id, said(await call(spec, { ...others, [place]: id }, by))]).toEqual([
            place,
            id,
            said(unknown),
          ]);
      }
      if (params.length > 1) expect((await call(spec, idsIn(theirs), by)).status).toBe(404);
    }
    expect(await storedRows()).toEqual(before);
  });

  it("works with the same request and the caller's own id", async () => {
    const shop = spec.method === "GET" ? mine : await fullShop(send);
    const ids = { ...idsIn(shop), ...(await ownedOf(spec, shop)) };
    const answer = await call(spec, ids, { headers: shop.headers }, shop);
    const code = REFUSED_FOR_ITS_STATE[spec.operationId];
    if (code === undefined) expect([200, 201, 202, 204], answer.text).toContain(answer.status);
    else expect(answer.json?.code).toBe(code);
  });
});

/** The caller's own ids, for routes where those in the fixture belong to another user. */
async function ownedOf({ operationId }: RouteSpec, shop: FullShop): Promise<Readonly<Record<string, string>>> {
  if (operationId !== "acceptInvitationById") return {};
  const { team, owner } = await freshTeam();
  const { status, body } = await owner.as.post(`${team.path}/invitations`, { email: shop.email, role: "VIEWER" });
  expect(status).toBe(201);
  return { invitationId: body.id };
}

/** Values for the query parameters that routes require. */
const ASKED: Readonly<Record<string, string>> = { month: "2026-11", from: "2026-11-01", to: "2026-11-02" };
/** Parameters that contain no id, or contain a position in a list. */
const NO_ID =
  /^(timezone|currency|cryptocurrency|amountFrom|amountTo|search|q|externalId|network|txHash|type|count|limit|page|cursor)$/;

/** An answer without its request id and without the requested id, so that answers can be compared. */
const without = (id: string, { status, text }: Answer) => [
  status,
  text.replaceAll(id, "...").replace(/"requestId":"[^"]*"/, ""),
];

describe("a list", () => {
  useDocument();
  const lists = SPECS.filter(
    ({ method, callers, path }) => method === "GET" && /^MEMBER/.test(callers) && !path.endsWith("/live"),
  );
  const queryOf = (spec: RouteSpec) => operationOf(spec).parameters.filter((each) => each.in === "query");
  /** Calls the route for the caller's own merchant with this query. */
  const asking = (spec: RouteSpec, query: Readonly<Record<string, string>>) => {
    const required = queryOf(spec).flatMap(({ name, required }) => (required ? [[name, ASKED[name] ?? ""]] : []));
    const search = new URLSearchParams({ ...Object.fromEntries(required), ...query });
    return send(`${pathOf(spec, { ...mine.ids, merchantId: mine.merchantId })}?${search}`, { headers: mine.headers });
  };

  it("has the same page for a cursor with another merchant's id as for one with an unknown id", async () => {
    const paged = lists.filter((spec) => queryOf(spec).some(({ name }) => name === "cursor"));
    expect(paged.length).toBeGreaterThan(8);
    for (const spec of paged) {
      for (const id of Object.values(theirs.ids).filter((each) => /^[a-z]{3}_/.test(each))) {
        const createdAtMs = Date.now();
        const [foreign, unknown] = await Promise.all(
          [id, `${id.slice(0, 4)}${UNKNOWN_ULID}`].map(async (each) =>
            without(each, await asking(spec, { limit: "2", cursor: encodeCursor({ createdAtMs, id: each }) })),
          ),
        );
        expect([nameOf(spec), id, foreign]).toEqual([nameOf(spec), id, unknown]);
      }
    }
  });

  it("filtered by another merchant's id gives the same result as for an unknown id", async () => {
    const named = lists.flatMap((spec) =>
      queryOf(spec)
        .filter(({ schema }) => schema.type === "string" && !("enum" in schema) && !("format" in schema))
        .filter(({ name }) => !(name in ASKED) && !NO_ID.test(name))
        .map(({ name }) => [spec, name] as const),
    );
    expect([...new Set(named.map(([, name]) => name))].sort()).toEqual([
      "actor",
      "after",
      "customerId",
      "ids",
      "invoiceId",
    ]);
    for (const [spec, name] of named) {
      const ids = Object.values(theirs.ids).filter((id) => /^[a-z]{3}_/.test(id));
      for (const id of name in theirs.ids ? [theirs.ids[name] ?? ""] : ids) {
        const unknown = `${id.slice(0, 4)}${UNKNOWN_ULID}`;
        const [foreign, none] = [await asking(spec, { [name]: id }), await asking(spec, { [name]: unknown })];
        expect([nameOf(spec), name, without(id, foreign)]).toEqual([nameOf(spec), name, without(unknown, none)]);
      }
    }
  });
});

describe("a body", () => {
  useDocument();
  const BASE = "/api/v1/merchants/merchant/";

  // `formerStoreId` is not an id of ours: it is a store's id at another server, looked up only for the merchant's own keys.
  it("refers to no object by our ids except a product and an invoice", () => {
    const named = SPECS.flatMap((spec) => {
      const content = Object.values(operationOf(spec).requestBody?.content ?? {});
      const members = content.flatMap(({ schema }) => membersOf(document, schema));
      return members
        .filter((name) => /(?<!external|formerStore)Id$/i.test(name))
        .map((name) => `${spec.operationId} ${name}`);
    });
    expect(named.filter((each) => !/credential/.test(each)).sort()).toEqual([
      "createInvoice productId",
      "resolvePayment invoiceId",
    ]);
  });

  it("that names another merchant's product or invoice is refused like one with an unknown id, and changes nothing", async () => {
    const before = await storedRows();
    const asks = [
      ["/invoices", (id: string) => ({ productId: id }), "productId", "PRODUCT_NOT_FOUND"],
      [
        `/payments/${mine.ids.paymentId}/resolve`,
        (invoiceId: string) => ({ action: "ASSIGN", invoiceId, reason: "A test" }),
        ...(["invoiceId", "INVOICE_NOT_FOUND"] as const),
      ],
    ] as const;
    for (const by of [{ headers: mine.headers }, { key: mine.key }]) {
      for (const [rest, bodyOf, name, code] of asks) {
        const post = (id: string) =>
          send(`${BASE}${mine.merchantId}${rest}`, { method: "POST", ...by, body: bodyOf(id) });
        const unknown = await post(`${theirs.ids[name]?.slice(0, 4)}${UNKNOWN_ULID}`);
        expectRefusal(unknown, 404, code);
        expect(said(await post(theirs.ids[name] ?? ""))).toEqual(said(unknown));
      }
    }
    expect(await storedRows()).toEqual(before);
  });
});

it("every operation with an id in its path is tested here, unless the id belongs to no merchant", () => {
  const tested = owned.map(nameOf);
  const withIds = SPECS.filter((spec) => paramsOf(spec).length > 0).map(nameOf);
  expect(tested.length).toBeGreaterThan(40);
  expect(withIds.filter((name) => !tested.includes(name) && !UNOWNED.includes(name))).toEqual([]);
  // Every kind of id in these paths is in the fixture.
  expect([...new Set(owned.flatMap(paramsOf))].sort()).toEqual(Object.keys(mine.ids).sort());
});
