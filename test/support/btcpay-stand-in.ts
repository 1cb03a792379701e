// A stand-in for BTCPay Server with everything that a move reads: the answers of its Greenfield API in the shapes of 1.x and 2.x, and its errors. It
// can also give wrong answers, as a faulty proxy in front of a server would.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { BtcpayAccount } from "./btcpay-accounts.ts";
import { listen } from "./listen.ts";

interface StandInMethod {
  readonly code: string;
  readonly account: BtcpayAccount;
  readonly isEnabled?: boolean;
  /** The addresses that the preview shows, if they differ from the account's. */
  readonly previewed?: readonly string[];
  readonly transactions?: readonly unknown[];
}

export interface StandInStore {
  readonly id: string;
  readonly name: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly methods?: readonly StandInMethod[];
  readonly hasLightning?: boolean;
  readonly webhooks?: readonly Readonly<Record<string, unknown>>[];
  readonly invoices?: readonly unknown[];
}

export interface StandInOptions {
  readonly version: 1 | 2;
  readonly stores: readonly StandInStore[];
  /** The key's permissions; all of them if unset. */
  readonly permissions?: readonly string[];
  /** An answer that replaces the server's, by path without query. */
  readonly lie?: (path: string) => Lie | undefined;
}

interface Lie {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The connection ends in the middle of the body. */
  readonly isCutOff?: boolean;
}

export interface StandIn {
  readonly origin: string;
  readonly key: string;
  /** Method and path of every request. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

export const BTCPAY_PERMISSIONS = {
  view: "btcpay.store.canviewstoresettings",
  modify: "btcpay.store.canmodifystoresettings",
  webhooks: "btcpay.store.webhooks.canmodifywebhooks",
  invoices: "btcpay.store.canviewinvoices",
} as const;

const KEY = "0123456789abcdef0123456789abcdef01234567";

export async function startBtcpay(options: StandInOptions): Promise<StandIn> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const path = (request.url ?? "").replace(/\?.*/, "");
    const lie = options.lie?.(path);
    if (lie !== undefined) return tell(response, lie);
    const [status, body] = answer(options, request, path);
    response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(body));
  });
  const { origin, close } = await listen(server);
  return { origin, key: KEY, requests, close };
}

function tell(response: ServerResponse, { status, headers = {}, body = "", isCutOff = false }: Lie): void {
  response.writeHead(status, { ...headers, ...(isCutOff ? { "content-length": String(body.length + 100) } : {}) });
  if (!isCutOff) return void response.end(body);
  response.write(body, () => response.destroy());
}

type Answer = readonly [status: number, body: unknown];

function answer(options: StandInOptions, { method, headers, url = "" }: IncomingMessage, path: string): Answer {
  if (headers.authorization !== `token ${KEY}`)
    return [401, { code: "unauthenticated", message: "Authentication is required for accessing this endpoint" }];
  if (method !== "GET") return [405, undefined];
  const { view } = BTCPAY_PERMISSIONS;
  if (path === "/api/v1/stores") return permitted(options, view, () => options.stores.map(storeBody));
  const [, id, below = ""] = /^\/api\/v1\/stores\/(\w+)\/(.+)$/.exec(path) ?? [];
  const store = options.stores.find((each) => each.id === id);
  if (store === undefined) return [404, { code: "store-not-found", message: "The store was not found" }];
  if (below === "webhooks") return permitted(options, BTCPAY_PERMISSIONS.webhooks, () => store.webhooks ?? []);
  if (below === "invoices") return permitted(options, BTCPAY_PERMISSIONS.invoices, () => store.invoices ?? []);
  if (below === "payment-methods") {
    const isWhole = options.version === 2 && url.includes("includeConfig=true");
    const needed = isWhole ? BTCPAY_PERMISSIONS.modify : view;
    return permitted(options, needed, () => (options.version === 1 ? methods1(store) : methods2(store, isWhole)));
  }
  const ofWallet = transactionsOf(options.version, store, below);
  if (ofWallet !== undefined) return permitted(options, BTCPAY_PERMISSIONS.modify, () => ofWallet);
  return permitted(options, view, () => previewOf(options.version, store, below, url));
}

function permitted({ permissions }: StandInOptions, permission: string, body: () => unknown): Answer {
  if (permissions !== undefined && !permissions.includes(permission))
    return [
      403,
      {
        code: "missing-permission",
        message: `Insufficient API Permissions: ${permission}`,
        missingPermission: permission,
      },
    ];
  const given = body();
  return given === undefined ? [404, { code: "not-found", message: "Not found" }] : [200, given];
}

function storeBody({ id, name, settings }: StandInStore): unknown {
  return {
    id,
    name,
    website: null,
    supportUrl: null,
    defaultCurrency: "USD",
    invoiceExpiration: 900,
    monitoringExpiration: 86_400,
    displayExpirationTimer: 300,
    speedPolicy: "MediumSpeed",
    paymentTolerance: 0,
    anyoneCanCreateInvoice: false,
    networkFeeMode: "Never",
    ...settings,
  };
}

function methods1({ methods = [], hasLightning }: StandInStore): unknown {
  const onChain = methods.map(({ code, account: { scheme, path }, isEnabled = true }) => [
    code,
    {
      enabled: isEnabled,
      cryptoCode: code,
      data: { derivationScheme: scheme, label: null, accountKeyPath: `73c5da0a/${path}` },
    },
  ]);
  const lightning = [
    "BTC-LightningNetwork",
    { enabled: true, cryptoCode: "BTC", data: { connectionString: "Internal Node" } },
  ];
  return Object.fromEntries(hasLightning ? [...onChain, lightning] : onChain);
}

function methods2({ methods = [], hasLightning }: StandInStore, isWhole: boolean): unknown {
  const onChain = methods.map(({ code, account: { scheme, path }, isEnabled = true }) => {
    const accountKey = scheme.replace(/-.*/, "");
    const config = {
      accountDerivation: scheme,
      accountOriginal: null,
      accountKeySettings: [{ rootFingerprint: "73c5da0a", accountKeyPath: path, accountKey }],
      isHotWallet: false,
      label: null,
      signingKey: accountKey,
      source: null,
    };
    return { enabled: isEnabled, paymentMethodId: `${code}-CHAIN`, ...(isWhole ? { config } : {}) };
  });
  const lightning = {
    enabled: true,
    paymentMethodId: "BTC-LN",
    ...(isWhole ? { config: { internalNodeRef: "Internal Node" } } : {}),
  };
  return hasLightning ? [...onChain, lightning] : onChain;
}

function transactionsOf(version: 1 | 2, { methods = [] }: StandInStore, below: string): unknown {
  const form =
    version === 1
      ? /^payment-methods\/onchain\/(\w+)\/wallet\/transactions$/
      : /^payment-methods\/(\w+)-CHAIN\/wallet\/transactions$/;
  const [, code] = form.exec(below) ?? [];
  const method = methods.find((each) => each.code === code);
  return method === undefined ? undefined : (method.transactions ?? []);
}

function previewOf(version: 1 | 2, { methods = [] }: StandInStore, below: string, url: string): unknown {
  const form =
    version === 1 ? /^payment-methods\/onchain\/(\w+)\/preview$/ : /^payment-methods\/(\w+)-CHAIN\/wallet\/preview$/;
  const [, code] = form.exec(below) ?? [];
  const method = methods.find((each) => each.code === code);
  if (method === undefined) return undefined;
  const { searchParams } = new URL(url, "http://localhost");
  const [from, to] = [Number(searchParams.get("offset") ?? 0), Number(searchParams.get("amount") ?? 10)];
  const shown = method.previewed ?? method.account.addresses;
  return {
    addresses: shown.map((address, index) => ({ keyPath: `0/${index}`, address })).slice(from, to),
  };
}
