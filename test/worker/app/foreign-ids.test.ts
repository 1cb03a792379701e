// Every operation with an id in its path, by callers who may do all that can be permitted and have just given a factor: ids of another merchant or
// user, and of another kind, are answered as ids that nobody has. The same request with the caller's own id does its work, so that no refusal
// here is one of the permission, the factor or the body.
import { beforeAll, describe, expect, it } from "vitest";
import { SECRET_KEY_PERMISSIONS } from "../../../src/accounts/teams/permissions.ts";
import { SPECS } from "../../../src/app/app.ts";
import type { RouteSpec } from "../../../src/platform/http/route.ts";
import { type Answer, type Ask, deploymentWith, expectRefusal } from "../../support/access.ts";
import { nameOf, pathOf } from "../../support/access-knock.ts";
import { OPEN, PAGES } from "../../support/access-table.ts";
import { type FullShop, fullShop } from "../../support/full-shop.ts";
import { storedRows } from "../../support/production.ts";
import { freshTeam } from "../../support/teams.ts";
import { USDT } from "../../support/wallet-bodies.ts";
import { MUTED } from "../../support/webhooks.ts";

/** Their ids are of the deployment, or are themselves what opens a page. */
const UNOWNED: readonly string[] = [
  ...[...OPEN, ...PAGES, "POST /api/v1/me/identities/:provider"],
  ...SPECS.filter(({ isOperatorOnly }) => isOperatorOnly).map(nameOf),
];
const DAY_MS = 86_400_000;

/** A body with which the operation does its work. */
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
/** What the fixture's own rows are refused for, which is found out behind the question of whose they are. */
const REFUSED_FOR_ITS_STATE: Readonly<Record<string, string>> = {
  resolveInvoice: "NOTHING_TO_REVIEW",
  deleteWallet: "WALLET_HAS_ACTIVE_PAYMENTS",
  previewAddresses: "WALLET_IS_NOT_XPUB",
  exportRecovery: "WALLET_IS_NOT_XPUB",
};
/** An invitation is named to whom it does not belong, because they may have signed in with the wrong one of their addresses. */
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

/** All who may do all at this merchant: the owner, and a key if keys may. */
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

  it("answers an id of another or of another kind as an unknown one, and changes nothing", async () => {
    const before = await storedRows();
    for (const by of callersOf(spec)) {
      for (const place of params) {
        // `pathOf` fills a parameter that is not given with an id that nobody has.
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

  it("does its work with the same request on the caller's own", async () => {
    const shop = spec.method === "GET" ? mine : await fullShop(send);
    const ids = { ...idsIn(shop), ...(await ownedOf(spec, shop)) };
    const answer = await call(spec, ids, { headers: shop.headers }, shop);
    const code = REFUSED_FOR_ITS_STATE[spec.operationId];
    if (code === undefined) expect([200, 201, 202, 204], answer.text).toContain(answer.status);
    else expect(answer.json?.code).toBe(code);
  });
});

/** What is the caller's own, where the fixture has it for somebody else. */
async function ownedOf({ operationId }: RouteSpec, shop: FullShop): Promise<Readonly<Record<string, string>>> {
  if (operationId !== "acceptInvitationById") return {};
  const { team, owner } = await freshTeam();
  const { status, body } = await owner.as.post(`${team.path}/invitations`, { email: shop.email, role: "VIEWER" });
  expect(status).toBe(201);
  return { invitationId: body.id };
}

it("every operation with an id is here, or its ids are of nobody", () => {
  const tested = owned.map(nameOf);
  const withIds = SPECS.filter((spec) => paramsOf(spec).length > 0).map(nameOf);
  expect(tested.length).toBeGreaterThan(40);
  expect(withIds.filter((name) => !tested.includes(name) && !UNOWNED.includes(name))).toEqual([]);
  // Every kind of id of these paths is in the fixture.
  expect([...new Set(owned.flatMap(paramsOf))].sort()).toEqual(Object.keys(mine.ids).sort());
});
