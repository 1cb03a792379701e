// `npm run move -- btcpay`: a stand-in for BTCPay Server at one end, the service at the other.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { startBrokenLine } from "../support/broken-line.ts";
import { type BtcpayKind, type BtcpayNetwork, btcpayAccount } from "../support/btcpay-accounts.ts";
import {
  BTCPAY_PERMISSIONS,
  type StandIn,
  type StandInOptions,
  type StandInStore,
  startBtcpay,
} from "../support/btcpay-stand-in.ts";
import { type Api, expectOk, service } from "./client.ts";
import { newMerchant, runMove, type Source, stateOf } from "./movers.ts";
import type { Wallet } from "./shapes.ts";

/** Accounts of the published seed that no guide uses, because the limits for a shared key would also count the guides' merchants. */
const [ACCOUNT, OTHER_ACCOUNT] = [24, 25];
const BTC = { code: "BTC", account: btcpayAccount("BTC", "segwit", ACCOUNT) };
const LTC = { code: "LTC", account: btcpayAccount("LTC", "p2sh", ACCOUNT) };
const HOOKS = [
  {
    id: "W1",
    enabled: true,
    automaticRedelivery: true,
    url: "http://127.0.0.1:4242/paid",
    authorizedEvents: { everything: false, specificEvents: ["InvoiceSettled", "InvoiceExpired"] },
  },
  {
    id: "W2",
    enabled: true,
    automaticRedelivery: true,
    url: "http://127.0.0.1:4242/all",
    authorizedEvents: { everything: true, specificEvents: [] },
  },
];
const STORE: StandInStore = {
  id: "CoffeeStore1",
  name: "Coffee",
  settings: { speedPolicy: "LowMediumSpeed", paymentTolerance: 2.5, invoiceExpiration: 1_800 },
  methods: [BTC, LTC],
  hasLightning: true,
  webhooks: HOOKS,
};
/** The flags with which the operator states that both keys are unused, so that they can be moved. */
const UNUSED = ["--unused", "BTC", "--unused", "LTC"];
const MOVED = {
  wallets: [
    { network: "BTC", key: expect.stringMatching(/^zpub/), isEnabled: false, requiredConfirmations: 2 },
    { network: "LTC", key: expect.stringMatching(/^ypub/), isEnabled: false, requiredConfirmations: 2 },
  ],
  webhooks: [
    {
      url: HOOKS[0]?.url,
      events: ["invoice.expired", "invoice.overpaid", "invoice.paid", "invoice.underpaid"],
      isActive: false,
    },
    { url: HOOKS[1]?.url, events: ["invoice.*", "payment.*"], isActive: false },
  ],
  products: [],
  customers: [],
  settings: [1_800, 2.5, "Coffee"],
};

const open: StandIn[] = [];
afterEach(async () => {
  for (const btcpay of open.splice(0)) await btcpay.close();
});

async function standIn(options: Partial<StandInOptions> = {}): Promise<StandIn & { readonly source: Source }> {
  const btcpay = await startBtcpay({ version: 2, stores: [STORE], ...options });
  open.push(btcpay);
  const source = { args: ["btcpay", "--from", btcpay.origin, "--store", STORE.id], key: btcpay.key };
  return { ...btcpay, source };
}

describe.each([1, 2] as const)("from BTCPay Server %i.x", (version) => {
  let nothing: unknown;
  let merchant: Api;
  beforeAll(async () => {
    merchant = await newMerchant();
    nothing = await stateOf(merchant);
  });

  it("the plan lists everything, and writes nothing", async () => {
    const { source, requests } = await standIn({ version });
    const { status, printed, asked } = await runMove(source, merchant, { args: [...UNUSED, "--plan"], answers: [] });
    expect([status, asked]).toEqual([0, []]);
    for (const text of ["m/84'/0'/24'", "m/49'/2'/24'", "/paid", "/all", "1800", "Lightning|on chain only"])
      expect(printed).toMatch(new RegExp(text));
    expect(printed).toContain(BTC.account.addresses[0]);
    expect(await stateOf(merchant)).toEqual(nothing);
    expect(requests.filter((each) => !each.startsWith("GET "))).toEqual([]);
  });

  it.each([
    ["the answer no", ["n"]],
    ["an empty answer", [""]],
    ["no terminal", undefined],
  ])("%s writes nothing and exits with an error", async (_, answers) => {
    const { source } = await standIn({ version });
    const more = answers === undefined ? { args: UNUSED } : { args: UNUSED, answers };
    const { status, printed } = await runMove(source, merchant, more);
    expect([status, printed]).toEqual([1, expect.stringContaining("Nothing was written")]);
    expect(await stateOf(merchant)).toEqual(nothing);
  });

  it("answering yes writes everything, and a second run finds nothing left to write", async () => {
    const { source } = await standIn({ version });
    const first = await runMove(source, merchant, { args: UNUSED, answers: ["y"] });
    expect([first.status, first.printed]).toEqual([0, expect.stringContaining("5 made.")]);
    expect(first.printed.match(/shown only now: whsec_\S+/g)).toHaveLength(2);
    expect(await stateOf(merchant)).toEqual(MOVED);
    const second = await runMove(source, merchant, { args: [...UNUSED, "--yes"] });
    expect([second.status, second.printed]).toEqual([0, expect.stringContaining("There is nothing to write.")]);
    expect(second.printed).toMatch(/There already:.*wal_.*wal_.*whk_.*whk_.*settings/s);
    expect(await stateOf(merchant)).toEqual(MOVED);
  });
});

describe("a shop that keeps its plugin", () => {
  const SECRET = "2xMoved8Secret5OfThePlugin";
  const PLUGIN = { args: [...UNUSED, "--plugin", "--yes"], environment: { MOVE_WEBHOOK_SECRETS: `W1=${SECRET}` } };

  it("keeps its store id, and gets its webhooks in the plugin's format with the given secrets", async () => {
    const { source } = await standIn();
    const merchant = await newMerchant();
    const first = await runMove(source, merchant, PLUGIN);
    expect([first.status, first.printed]).toEqual([0, expect.stringContaining("5 made.")]);
    // The other endpoint gets a new secret, and stays disabled until a user has entered it in the plugin.
    expect(first.printed.match(/secret of (\S+) /g)).toEqual([`secret of ${HOOKS[1]?.url} `]);
    expect(first.printed).not.toContain(SECRET);
    type Hook = { url: string; events: string[]; isActive: boolean; format: string };
    const hooks = expectOk(await merchant.get<Hook[]>("/webhooks"), 200);
    expect(hooks.map(({ url, format, isActive, events }) => [url, format, isActive, events.length])).toEqual([
      [HOOKS[0]?.url, "GREENFIELD", true, 5],
      [HOOKS[1]?.url, "GREENFIELD", false, 12],
    ]);
    const headers = { authorization: `token ${merchant.key}` };
    const store = await fetch(`${service.baseUrl}/api/v1/stores/${STORE.id}`, { headers });
    expect([store.status, await store.json()]).toEqual([200, expect.objectContaining({ id: merchant.merchantId })]);
    const second = await runMove(source, merchant, PLUGIN);
    expect([second.status, second.printed]).toEqual([0, expect.stringContaining("There is nothing to write.")]);
  });

  it("gets an error if a webhook is missing, or was moved in the other format", async () => {
    const { source } = await standIn();
    const merchant = await newMerchant();
    const wrong = { ...PLUGIN, environment: { MOVE_WEBHOOK_SECRETS: `W7=${SECRET}` } };
    const none = await runMove(source, merchant, wrong);
    expect([none.status, none.printed]).toEqual([1, expect.stringContaining("not there: W7")]);
    await runMove(source, merchant, { args: [...UNUSED, "--yes"] });
    const { status, printed } = await runMove(source, merchant, PLUGIN);
    expect([status, printed]).toEqual([1, expect.stringMatching(/\/paid: whk_\w+ is there in the format STANDARD/)]);
  });

  it.each(["W1", "=x", "W1=a W2"])(
    "gets an error that explains the format of MOVE_WEBHOOK_SECRETS if its value is %s",
    async (MOVE_WEBHOOK_SECRETS) => {
      const { source } = await standIn();
      const { status, printed } = await runMove(source, await newMerchant(), {
        ...PLUGIN,
        environment: { MOVE_WEBHOOK_SECRETS },
      });
      expect([status, printed]).toEqual([1, expect.stringContaining("MOVE_WEBHOOK_SECRETS must be")]);
    },
  );
});

describe("an interruption", () => {
  const WRITES = 5;
  const cases = (["before", "after"] as const).flatMap((when) =>
    Array.from({ length: WRITES }, (_, at) => [at, when] as const),
  );

  it.each(cases)("at write %i, %s the server receives it, is repaired by a second run", async (at, when) => {
    const { source } = await standIn();
    const merchant = await newMerchant();
    const line = await startBrokenLine(service.baseUrl);
    line.breakAt(at, when);
    const broken = await runMove(source, merchant, { args: [...UNUSED, "--yes"], to: line.origin });
    expect([broken.status, broken.printed]).toEqual([1, expect.stringContaining("Run the same command again")]);
    expect(line.writes).toHaveLength(when === "before" ? at : at + 1);
    line.breakAt(undefined, when);
    const again = await runMove(source, merchant, { args: [...UNUSED, "--yes"], to: line.origin });
    await line.close();
    expect(again.status, again.printed).toBe(0);
    expect(line.writes).toHaveLength(WRITES);
    expect(await stateOf(merchant)).toEqual(MOVED);
  });

  it("of the output by a reader that closes early, such as `| head`, does not stop the run", async () => {
    const { source } = await standIn();
    const merchant = await newMerchant();
    const into = ["--to", service.baseUrl, "--merchant", merchant.merchantId];
    const command = spawn(process.execPath, ["scripts/move.ts", ...source.args, ...into, ...UNUSED, "--yes"], {
      env: { ...process.env, MOVE_FROM_KEY: source.key, MOVE_TO_KEY: merchant.key },
      stdio: ["ignore", "pipe", "pipe"],
    });
    command.stdout.destroy();
    const [[status], said] = await Promise.all([once(command, "exit"), text(command.stderr)]);
    expect([status, said]).toEqual([0, ""]);
    expect(await stateOf(merchant)).toEqual(MOVED);
  });
});

describe("a wallet", () => {
  const FORMS: readonly (readonly [BtcpayNetwork, BtcpayKind])[] = [
    ["BTC", "segwit"],
    ["BTC", "p2sh"],
    ["BTC", "legacy"],
    ["LTC", "segwit"],
    ["LTC", "legacy"],
    ["BTC_TESTNET", "segwit"],
    ["BTC_TESTNET", "p2sh"],
  ];

  it.each(FORMS)("for %s (%s) gives the addresses that BTCPay Server shows", async (on, kind) => {
    const account = btcpayAccount(on, kind, ACCOUNT);
    const [code = ""] = on.split("_");
    const { source } = await standIn({ stores: [{ ...STORE, methods: [{ code, account }], webhooks: [] }] });
    const merchant = await newMerchant();
    expect(await runMove(source, merchant, { args: ["--unused", code, "--yes"] })).toMatchObject({ status: 0 });
    const [wallet] = expectOk(await merchant.get<Wallet[]>("/wallets"), 200);
    const shown = await merchant.get<{ data: { address: string }[] }>(
      `/wallets/${wallet?.id}/addresses?from=0&count=10`,
    );
    expect(wallet).toMatchObject({ network: on, derivationPath: `m/${account.path}` });
    expect(expectOk(shown, 200).data.map(({ address }) => address)).toEqual(account.addresses);
  });

  it("is not written if BTCPay Server shows other addresses for it, but the rest is", async () => {
    const other = { ...BTC, previewed: btcpayAccount("BTC", "segwit", OTHER_ACCOUNT).addresses };
    const { source } = await standIn({ stores: [{ ...STORE, methods: [other, LTC] }] });
    const merchant = await newMerchant();
    const { printed } = await runMove(source, merchant, { args: [...UNUSED, "--yes"] });
    expect(printed).toContain("BTC-CHAIN: Edgetill derives other addresses");
    expect(await stateOf(merchant)).toEqual({ ...MOVED, wallets: MOVED.wallets.slice(1) });
  });

  it("of a store with invoices is not written, even if the operator confirms; a new account's key is written", async () => {
    const { source } = await standIn({ stores: [{ ...STORE, methods: [BTC], invoices: [{ id: "I1" }] }] });
    const merchant = await newMerchant();
    const refused = await runMove(source, merchant, { args: [...UNUSED, "--plan"] });
    expect(refused.printed).toMatch(/Does not move:.*BTC-CHAIN: the store CoffeeStore1 has invoices/s);
    const fresh = btcpayAccount("BTC", "legacy", OTHER_ACCOUNT);
    const key = `BTC=${fresh.scheme.replace(/-.*/, "")}`;
    expect(await runMove(source, merchant, { args: ["--key", key, "--yes"] })).toMatchObject({ status: 0 });
    expect(await stateOf(merchant)).toMatchObject({ wallets: [{ network: "BTC", isEnabled: true }] });
  });

  it.each([1, 2] as const)(
    "with a transaction in BTCPay Server %i.x is not written even if the operator confirms",
    async (version) => {
      const used = { ...BTC, transactions: [{ transactionHash: "00", amount: "0.1" }] };
      const { source } = await standIn({ version, stores: [{ ...STORE, methods: [used, LTC] }] });
      const merchant = await newMerchant();
      const { printed } = await runMove(source, merchant, { args: [...UNUSED, "--yes"] });
      expect(printed).toMatch(
        /Does not move:\n {2}- BTC(-CHAIN)?: its wallet in the store CoffeeStore1 has transactions/,
      );
      expect(await stateOf(merchant)).toEqual({ ...MOVED, wallets: MOVED.wallets.slice(1) });
    },
  );

  it("that conflicts with one that the merchant already has is not written, and the command fails", async () => {
    const { source } = await standIn({ stores: [{ ...STORE, methods: [BTC], webhooks: [] }] });
    const merchant = await newMerchant();
    const [address] = btcpayAccount("BTC", "segwit", OTHER_ACCOUNT).addresses;
    const mine = { walletType: "DIRECT_WALLET", cryptocurrency: "BTC", network: "BTC", address };
    expectOk(await merchant.post("/wallets", mine), 201);
    const { status, printed } = await runMove(source, merchant, { args: [...UNUSED, "--yes"] });
    expect([status, printed]).toEqual([1, expect.stringContaining("the merchant has another one")]);
    expect(await stateOf(merchant)).toMatchObject({ wallets: [{ key: address }] });
  });
});

describe("a BTCPay Server key", () => {
  it("that may only view stores produces a plan that lists its missing permissions", async () => {
    const { source } = await standIn({ permissions: [BTCPAY_PERMISSIONS.view] });
    const { status, printed } = await runMove(source, await newMerchant(), { args: [...UNUSED, "--plan"] });
    expect(status).toBe(0);
    expect(printed).toMatch(/BTC-CHAIN: .*canmodifystoresettings.*webhooks: .*canmodifywebhooks/s);
  });

  it.each([
    ["without view permissions", { permissions: [] }, /canviewstoresettings/],
    ["for another store", { stores: [] }, /There is no store CoffeeStore1/],
  ])("%s moves nothing", async (_, options, reason) => {
    const { source } = await standIn(options);
    const merchant = await newMerchant();
    const { status, printed } = await runMove(source, merchant, { args: ["--yes"] });
    expect([status, printed]).toEqual([1, expect.stringMatching(reason)]);
    expect(await stateOf(merchant)).toMatchObject({ wallets: [], webhooks: [] });
  });
});

describe("a response that BTCPay Server never sends", () => {
  const PATHS = ["", "/CoffeeStore1/payment-methods", "/CoffeeStore1/webhooks", "/CoffeeStore1/invoices"];
  const lies = [
    {
      what: "a web page",
      lie: { status: 200, headers: { "content-type": "text/html" }, body: "<html>Sign in</html>" },
    },
    { what: "half a response", lie: { status: 200, body: '[{"id":"Coff', isCutOff: true } },
    { what: "other JSON", lie: { status: 200, body: '[{"id": 7}, 7]' } },
    { what: "a server error", lie: { status: 500, body: "{}" } },
    { what: "a 401", lie: { status: 401, body: "{}" } },
  ];
  const cases = PATHS.flatMap((path) => lies.map(({ what, lie }) => ({ path, what, lie })));

  it.each(cases.filter(({ path, what }) => !path.endsWith("/invoices") || what !== "other JSON"))(
    "such as $what at /stores$path ends the move before anything is written",
    async ({ path, lie }) => {
      const at = `/api/v1/stores${path}`;
      const { source } = await standIn({ lie: (asked) => (asked === at ? lie : undefined) });
      const merchant = await newMerchant();
      const { status, printed } = await runMove(source, merchant, { args: [...UNUSED, "--yes"] });
      expect([status, printed]).toEqual([1, expect.stringContaining(`GET ${at}`)]);
      expect(await stateOf(merchant)).toMatchObject({ wallets: [], webhooks: [] });
    },
  );

  it("is not followed if it redirects to another host, so the other host never sees the key", async () => {
    const other = await standIn();
    const location = `${other.origin}/api/v1/stores`;
    const { source } = await standIn({ lie: () => ({ status: 307, headers: { location } }) });
    const { status, printed } = await runMove(source, await newMerchant(), { args: [...UNUSED, "--yes"] });
    expect([status, printed]).toEqual([1, expect.stringContaining(`redirect to ${other.origin}`)]);
    expect(other.requests).toEqual([]);
  });
});

describe("a key of the service", () => {
  it("that may not register wallets is refused before anything is written", async () => {
    const { source } = await standIn();
    const merchant = await newMerchant(["MERCHANT_VIEW", "WALLET_VIEW", "WEBHOOK_VIEW", "WEBHOOK_CREATE"]);
    const { status, printed } = await runMove(source, merchant, { args: [...UNUSED, "--yes"] });
    expect([status, printed]).toEqual([
      1,
      expect.stringMatching(/lacks WALLET_CREATE, WALLET_UPDATE, MERCHANT_UPDATE/),
    ]);
    expect(expectOk(await merchant.get<unknown[]>("/webhooks"), 200)).toEqual([]);
  });

  it("that is wrong ends the move", async () => {
    const { source } = await standIn();
    const merchant = await newMerchant();
    const wrong = { ...merchant, key: "sk_wrong" };
    expect(await runMove(source, wrong, { args: ["--yes"] })).toMatchObject({ status: 1 });
  });
});
