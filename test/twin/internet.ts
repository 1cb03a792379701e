// Everything that the deployment reaches over the internet: prices, a chain, and the merchants' servers. Every other address answers 503.
import { Buffer } from "node:buffer";
import { setTimeout as sleep } from "node:timers/promises";
import { type Request, Response } from "miniflare";
import * as z from "zod";
import { verifyWebhook } from "../../client/webhook.ts";
import { RESEND_URL } from "../../src/platform/mail/provider.ts";
import { CLOUDFLARE_RESOLVER_URL } from "../../src/platform/resolver/host-resolver-client.ts";
import { COINBASE, coingecko, currencyApi, frankfurter, KRAKEN } from "../support/rate-payloads.ts";
import type { Internet } from "./runtime.ts";

const CHAIN_URL = "https://eth.chain-source.net/";
/** The sources in the form of a deployment's configuration. */
export const CHAIN_SOURCES = JSON.stringify({ ETH: [{ kind: "evm-rpc", url: CHAIN_URL }] });
const MAIL_HOST = new URL(RESEND_URL).host;
const RESOLVER_HOST = new URL(CLOUDFLARE_RESOLVER_URL).host;
const RECEIVER_HOST = "hooks.corner-shops.net";

/** An endpoint of a merchant. */
export interface Receiver {
  readonly url: string;
  /** Set once the endpoint is registered. */
  secret: string;
  /**
   * How the endpoint answers. It succeeds at once, after a delay, or after the first deliveries have failed. Or it never succeeds: it answers later
   * than any time limit, with a refusal, or with 410.
   */
  readonly manner: "good" | "slow" | "failing" | "silent" | "refusing" | "gone";
  /** Signed and accepted events by their id. */
  readonly accepted: Map<string, Accepted>;
  /** The number of deliveries with a wrong signature. */
  refused: number;
  failures: number;
  /** How often each delivery came, by its id. */
  readonly posts: Map<string, number>;
  /** When the last request came, in milliseconds since 1970. */
  lastPostMs: number;
}

interface SentMail {
  readonly to: string;
  readonly text: string;
}

/** An email as Resend's API receives it. */
const MAIL = z.object({ to: z.array(z.string()), text: z.string() });

interface Accepted {
  readonly type: string;
  readonly invoiceId: string | undefined;
  readonly sequence: number | null;
}

const SLOW_MS = 600;
/** Longer than any endpoint's time limit. */
const SILENT_MS = 60_000;
/** A failing receiver recovers after this many deliveries. The schedule retries each failed delivery. */
const FAILURES = 2;

export class World {
  readonly receivers: Receiver[] = [];
  /** Emails sent through Resend, oldest first. */
  readonly mails: SentMail[] = [];
  readonly #chainUrl: string;

  constructor(chainUrl: string) {
    this.#chainUrl = chainUrl;
  }

  receiver(manner: Receiver["manner"]): Receiver {
    const url = `https://${RECEIVER_HOST}/${this.receivers.length}`;
    const counts = { accepted: new Map(), refused: 0, failures: 0, posts: new Map(), lastPostMs: 0 };
    const receiver: Receiver = { url, secret: "", manner, ...counts };
    this.receivers.push(receiver);
    return receiver;
  }

  readonly internet: Internet = async (request) => {
    const { host } = new URL(request.url);
    if (host === new URL(CHAIN_URL).host) return this.#chain(request);
    if (host === RECEIVER_HOST) return this.#deliver(request);
    if (host === MAIL_HOST) return this.#post(request);
    if (host === RESOLVER_HOST) return resolved(new URL(request.url).searchParams.get("type"));
    const prices = PRICES[host]?.();
    if (prices === undefined) return new Response("nobody is here", { status: 503 });
    return new Response(prices, { headers: { "content-type": "application/json" } });
  };

  async #chain(request: Request): Promise<Response> {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: await request.text() };
    const answer = await fetch(this.#chainUrl, init);
    return new Response(await answer.text(), {
      status: answer.status,
      headers: { "content-type": "application/json" },
    });
  }

  async #post(request: Request): Promise<Response> {
    const { to, text } = MAIL.parse(await request.json());
    for (const each of to) this.mails.push({ to: each, text });
    return new Response(JSON.stringify({ id: `mail-${this.mails.length}` }), {
      headers: { "content-type": "application/json" },
    });
  }

  async #deliver(request: Request): Promise<Response> {
    const receiver = this.receivers.find(({ url }) => url === request.url);
    if (receiver === undefined) return new Response("", { status: 404 });
    const deliveryId = request.headers.get("x-delivery-id") ?? "";
    receiver.posts.set(deliveryId, (receiver.posts.get(deliveryId) ?? 0) + 1);
    receiver.lastPostMs = Date.now();
    const body = Buffer.from(await request.arrayBuffer()).toString();
    if (receiver.manner === "gone") return new Response("", { status: 410 });
    if (receiver.manner === "refusing") return new Response("", { status: 403 });
    // The service must have given up long before this answer, which would otherwise count as a success.
    if (receiver.manner === "silent") await sleep(SILENT_MS, undefined, { ref: false });
    if (receiver.manner === "slow") await sleep(SLOW_MS);
    if (receiver.manner === "failing" && receiver.failures < FAILURES) {
      receiver.failures += 1;
      return new Response("", { status: 500 });
    }
    const event = await verifyWebhook({ payload: body, headers: request.headers, secret: receiver.secret }).catch(
      () => undefined,
    );
    if (event === undefined) {
      receiver.refused += 1;
      return new Response("", { status: 401 });
    }
    // A repeated delivery carries the same event.
    const invoiceId = "invoiceId" in event.data ? event.data.invoiceId : undefined;
    receiver.accepted.set(event.id, { type: event.type, sequence: event.sequence, invoiceId });
    return new Response("", { status: 200 });
  }
}

/** Every name resolves to one public address, because addresses in 192.0.2.0/24 and similar ranges do not count as public. */
function resolved(type: string | null): Response {
  const answer = type === "A" ? [{ type: 1, data: "93.184.215.14" }] : [];
  return new Response(JSON.stringify({ Status: 0, TC: false, Answer: answer }), {
    headers: { "content-type": "application/dns-json" },
  });
}

const PRICES: Readonly<Record<string, () => string>> = {
  "api.coinbase.com": () => COINBASE,
  "api.kraken.com": () => KRAKEN,
  "api.coingecko.com": () => coingecko(Math.floor(Date.now() / 1_000)),
  "api.frankfurter.dev": () => frankfurter(new Date().toISOString().slice(0, 10)),
  "cdn.jsdelivr.net": () => currencyApi(new Date().toISOString().slice(0, 10)),
};
