// Members of busy shops revoke rights while the shops sell. Each act must succeed whenever the edge runs this release, no matter which release the
// objects run, because revoking a key cannot wait until a rollout has finished.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Shop } from "./book.ts";
import { BROKE, Client } from "./client.ts";
import type { Answered, Asked, Twin } from "./deployment.ts";
import { jsonIn } from "./json.ts";
import { type Headers, INVITATION, mailed, signIn } from "./sign-in.ts";

export const ACTS = ["delete an API key", "remove a member", "disable a wallet"] as const;
type Act = (typeof ACTS)[number];

/** The releases that run in one part of a day. */
export interface Combination {
  readonly name: string;
  readonly edge: Release;
  readonly objects: Release;
}
export type Release = "this release" | "the release before";
/** The name under which an act is counted. */
export const doneUnder = ({ name }: Combination, act: Act) => `${name}: ${act}`;

/** The most refusals in a row for one act. A few percent of requests fail by design. */
const MOST_REFUSALS = 4;
const PAUSE_MS = { first: 250, most: 4_000 };
/** After this time a preparation is abandoned, and so is its round. */
const PREPARED_WITHIN_MS = 120_000;
/** A session's factor counts for five minutes; a new session starts well before that. */
const SESSION_MS = 200_000;
const ROUTE = "hands";
const BETWEEN_ROUNDS_MS = 200;
const PERMISSIONS = ["INVOICE_VIEW", "INVOICE_CREATE"];

const MADE = z.object({ id: z.string() });
const KEY = MADE.extend({ secret: z.string() });
const WALLET = z.object({ isEnabled: z.boolean() });

interface Office {
  readonly root: string;
  /** The wallet's path. */
  readonly wallet: string;
  /** A key's secret. */
  readonly secret: string;
}

interface HandsOptions {
  readonly twin: Twin;
  /**
   * The owner of the shops: the email address of a user who needs only an emailed code to sign in, or a session that has just stepped up, valid for a
   * few minutes.
   */
  readonly owner: string | Headers;
  readonly shops: readonly Shop[];
}

export class Hands {
  readonly wrong: string[] = [];
  /** How often each act was done, by combination and act. */
  readonly done = new Map<string, number>();
  /** Acts and preparations abandoned while the previous release was at the edge, or while releases changed. */
  givenUp = 0;
  #combination: Combination | undefined;
  #session: { readonly headers: Headers; readonly sinceMs: number } | undefined;
  /** The separate merchants, by the root path of the members' shop. */
  readonly #offices = new Map<string, Office>();
  readonly #options: HandsOptions;
  readonly #client: Client;
  readonly #working: Promise<void>[] = [];
  #isOver = false;

  constructor(options: HandsOptions) {
    this.#options = options;
    this.#client = new Client(options.twin.ask, Math.random);
  }

  /** Sets the combination under which acts are counted from now on; undefined while releases change. */
  set combination(combination: Combination | undefined) {
    this.#combination = combination;
  }

  start(): void {
    for (const shop of this.#options.shops) this.#working.push(this.#work(shop));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#working);
  }

  /**
   * Resolves once each act was done this often under the combination, or once all work has stopped. After the time limit, adds the missing acts to
   * `wrong`.
   */
  async until(combination: Combination, times: number, withinMs: number): Promise<void> {
    const lateMs = Date.now() + withinMs;
    const missing = () => ACTS.filter((act) => (this.done.get(doneUnder(combination, act)) ?? 0) < times);
    while (missing().length > 0 && Date.now() < lateMs && !this.#isOver) await sleep(100);
    if (this.#isOver) return;
    for (const act of missing()) this.wrong.push(`${combination.name}: nobody could ${act} ${times} times`);
  }

  async #work(shop: Shop): Promise<void> {
    const root = `/api/v1/merchants/merchant/${shop.merchantId}`;
    while (!this.#isOver) {
      for (const part of [this.#rotateKey, this.#disableWallet, this.#removeMember]) {
        if (this.#isOver) return;
        const under = this.#combination;
        await part.call(this, root).catch((error: unknown) => {
          this.givenUp += 1;
          // Work after a response, such as sending an email, is lost if its machine is replaced.
          const isChanged = under !== this.#combination || error instanceof ChangedError;
          if (under?.edge === "this release" && !isChanged)
            this.wrong.push(`${under.name}: ${error instanceof Error ? error.message : error}`);
        });
        await sleep(BETWEEN_ROUNDS_MS);
      }
    }
  }

  /** Creates two keys, uses both, and deletes one after the other. */
  async #rotateKey(root: string): Promise<void> {
    const [older, newer] = [await this.#newKey(root), await this.#newKey(root)];
    const view = `${root}/invoices?limit=1`;
    for (const { secret } of [older, newer]) await this.#prepare(view, { headers: { "x-api-key": secret } });
    await this.#act("delete an API key", `${root}/api-keys/${older.id}`, { method: "DELETE" });
    await this.#refused(view, { "x-api-key": older.secret }, "a deleted key");
    await this.#prepare(view, { headers: { "x-api-key": newer.secret } });
    await this.#act("delete an API key", `${root}/api-keys/${newer.id}`, { method: "DELETE" });
  }

  async #newKey(root: string): Promise<{ readonly id: string; readonly secret: string }> {
    const body = { name: "rotated", kind: "SECRET", permissions: PERMISSIONS };
    const headers = await this.#asOwner();
    return jsonIn(KEY, (await this.#prepare(`${root}/api-keys`, { method: "POST", headers, body })).text);
  }

  /**
   * Uses a separate merchant, because payers would have to choose a method in a shop with two coins. A create before each act keeps that merchant's
   * object awake.
   */
  async #disableWallet(root: string): Promise<void> {
    const office = this.#offices.get(root) ?? (await this.#openOffice());
    this.#offices.set(root, office);
    const order = { name: "Paper", rawAmount: 5 };
    await this.#prepare(`${office.root}/invoices`, {
      method: "POST",
      headers: { "x-api-key": office.secret },
      body: order,
    });
    await this.#act("disable a wallet", office.wallet, { method: "PATCH", body: { isEnabled: false } });
    const { text } = await this.#prepare(office.wallet, { headers: await this.#asOwner() });
    if (jsonIn(WALLET, text).isEnabled && this.#combination?.edge === "this release")
      this.wrong.push(`${office.wallet} was disabled, and is not`);
    const body = { isEnabled: true };
    await this.#prepare(office.wallet, { method: "PATCH", headers: await this.#asOwner(), body });
  }

  async #openOffice(): Promise<Office> {
    const headers = await this.#asOwner();
    const post = async (path: string, body: unknown) =>
      jsonIn(MADE, (await this.#prepare(path, { method: "POST", headers, body })).text);
    const { id } = await post("/api/v1/merchants", { name: "Office" });
    const root = `/api/v1/merchants/merchant/${id}`;
    const address = `0x${randomBytes(20).toString("hex")}`;
    const wallet = { walletType: "DIRECT_WALLET", cryptocurrency: "USDT", network: "ETH", address };
    const made = await post(`${root}/wallets`, wallet);
    return { root, wallet: `${root}/wallets/${made.id}`, secret: (await this.#newKey(root)).secret };
  }

  async #removeMember(root: string): Promise<void> {
    const { twin } = this.#options;
    const email = `guest-${randomBytes(6).toString("hex")}@example.com`;
    const sent = twin.world.mails.length;
    const invitation = { method: "POST", headers: await this.#asOwner(), body: { email, role: "VIEWER" } };
    await this.#prepare(`${root}/team/invitations`, invitation);
    const token = await mailed(twin.world, { email, since: sent, pattern: INVITATION });
    const headers = await signIn((path, asked) => this.#prepare(path, asked), twin, email);
    const accepted = await this.#prepare("/api/v1/team/invitations/accept", {
      method: "POST",
      headers,
      body: { token },
    });
    const { id } = jsonIn(MADE, accepted.text);
    await this.#prepare(`${root}/invoices?limit=1`, { headers });
    await this.#act("remove a member", `${root}/team/members/${id}`, { method: "DELETE" });
    await this.#refused(`${root}/invoices?limit=1`, headers, "a removed member");
  }

  /** Sign-ins run one after another, so that none replaces the code of another. */
  #signingIn: Promise<unknown> = Promise.resolve();
  #asOwner(): Promise<Headers> {
    const { twin, owner } = this.#options;
    if (typeof owner !== "string") return Promise.resolve(owner);
    const mine = this.#signingIn.then(async () => {
      if (this.#session === undefined || this.#session.sinceMs + SESSION_MS < Date.now())
        this.#session = {
          sinceMs: Date.now(),
          headers: await signIn((path, asked) => this.#prepare(path, asked), twin, owner),
        };
      return this.#session.headers;
    });
    this.#signingIn = mine.catch(() => undefined);
    return mine;
  }

  /** Revokes a right. An attempt whose answer was lost may have succeeded, so a later 404 is a success. */
  async #act(act: Act, path: string, asked: Asked): Promise<void> {
    const headers = await this.#asOwner();
    let under = this.#combination;
    let refusals = 0;
    for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS.most)) {
      const answer = await this.#ask(path, { ...asked, headers });
      if (answer.status < 300 && under !== undefined && under === this.#combination) this.#count(doneUnder(under, act));
      if (answer.status < 300 || (answer.status === 404 && refusals > 0)) return;
      refusals = under !== undefined && under === this.#combination ? refusals + 1 : 1;
      under = this.#combination;
      if (refusals >= MOST_REFUSALS)
        throw new Error(
          `could not ${act}: ${refusals} times in a row, last ${answer.status} ${answer.text.slice(0, 200)}`,
        );
      await sleep(pauseMs);
    }
  }

  async #prepare(path: string, asked: Asked): Promise<Answered> {
    const lateMs = Date.now() + PREPARED_WITHIN_MS;
    const key = randomBytes(8).toString("hex");
    const headers = { ...asked.headers, ...(asked.method === "POST" ? { "idempotency-key": key } : {}) };
    for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS.most)) {
      const under = this.#combination;
      const answer = await this.#ask(path, { ...asked, headers });
      if (answer.status < 300) return answer;
      const isPassing = answer.status >= 500 || answer.status === 429 || /IN_PROGRESS|CONTENTION/.test(answer.text);
      const said = `${asked.method ?? "GET"} ${path}: ${answer.status} ${answer.text.slice(0, 200)}`;
      if (under === undefined || under !== this.#combination || answer.status === BROKE) {
        if (!isPassing) throw new ChangedError(said);
      } else if (!isPassing || Date.now() > lateMs) throw new Error(said);
      if (this.#isOver && Date.now() > lateMs) throw new ChangedError(said);
      await sleep(pauseMs);
    }
  }

  /** Checks that this release refuses a revoked right. */
  async #refused(path: string, headers: Headers, who: string): Promise<void> {
    const under = this.#combination;
    const { status } = await this.#ask(path, { headers });
    if (status < 300 && under?.edge === "this release" && under === this.#combination)
      this.wrong.push(`${under.name}: ${who} was let in`);
  }

  #ask(path: string, { method = "GET", headers = {}, body }: Asked): Promise<Answered> {
    return this.#client.once({ route: ROUTE, path, method, headers, ...(body === undefined ? {} : { body }) });
  }

  #count(what: string): void {
    this.done.set(what, (this.done.get(what) ?? 0) + 1);
  }
}

/** The releases changed meanwhile: an act that started under one combination does not continue under another. */
class ChangedError extends Error {
  override readonly name = "ChangedError";
}
