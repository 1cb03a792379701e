// A team member in a browser. Tests prepare data through the API with the member's session.
import type { Page } from "playwright-core";
import { inject } from "vitest";
import { randomHex } from "../support/wallet-bodies.ts";
import { enter } from "./console-entry.ts";
import { signIn, untilPage } from "./console-harness.ts";
import { type Invoice, mine, ON_ETH, REQUIRED, send, until } from "./harness.ts";

const PAID_WITHIN_MS = 120_000;

export interface Member {
  readonly page: Page;
  readonly merchantId: string;
  /** Calls a path below the merchant's path; throws unless the answer is 2xx. The result type is not checked. */
  call<T>(method: string, rest: string, body?: object): Promise<T>;
}

/** A new user with a new merchant, on its Home page. */
export async function ownerAtHome(page: Page, email: string): Promise<Member> {
  const { baseUrl } = inject("testbed");
  await enter(page.context(), baseUrl, email);
  const asked = { data: { name: "Corner shop" }, headers: { origin: baseUrl } };
  const answer = await page.request.post(`${baseUrl}/api/v1/merchants`, asked);
  if (!answer.ok()) throw new Error(`POST /merchants: ${answer.status()} ${await answer.text()}`);
  const { id } = (await answer.json()) as { readonly id: string };
  await page.goto(`/console/${id}`);
  await untilPage(page, "Home");
  return memberAt(page);
}

/** A new user with a new merchant, who went from the sign-in page through Welcome to Home. */
export async function newcomerAtHome(page: Page, email: string): Promise<Member> {
  await page.goto("/");
  await signIn(page, email);
  await untilPage(page, "Welcome");
  await page.getByLabel("Name of your shop or business").fill("Corner shop");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Skip" }).click();
  await page.getByRole("button", { name: "Skip" }).click();
  await page.getByRole("link", { name: "Open Home" }).click();
  await untilPage(page, "Home");
  return memberAt(page);
}

/** The merchant whose page is open. */
function memberAt(page: Page): Member {
  const [, merchantId = ""] = /\/console\/(mer_\w+)/.exec(page.url()) ?? [];
  const { baseUrl } = inject("testbed");
  const call = async <T>(method: string, rest: string, body?: object): Promise<T> => {
    const url = `${baseUrl}/api/v1/merchants/merchant/${merchantId}${rest}`;
    const answer = await page.request.fetch(url, {
      method,
      headers: { origin: baseUrl },
      ...(body === undefined ? {} : { data: body }),
    });
    if (!answer.ok()) throw new Error(`${method} ${rest}: ${answer.status()} ${await answer.text()}`);
    return answer.json();
  };
  return { page, merchantId, call };
}

/** A wallet for USDT on Ethereum with an address of its own. */
export async function addWallet(member: Member): Promise<string> {
  const address = `0x${randomHex(20)}`;
  const body = { walletType: "DIRECT_WALLET", ...ON_ETH("USDT"), address, requiredConfirmations: REQUIRED };
  await member.call("POST", "/wallets", body);
  return address;
}

export function addInvoice(member: Member, fields: object): Promise<Invoice> {
  return member.call("POST", "/invoices", {
    name: "Order",
    rawAmount: 25,
    paymentMethods: [ON_ETH("USDT")],
    ...fields,
  });
}

/** Pays the amount that an invoice asks for, and mines blocks until it is paid. */
export async function payInFull(member: Member, { id }: Pick<Invoice, "id">): Promise<void> {
  const read = () => member.call<Invoice>("GET", `/invoices/${id}`);
  const { paymentMethods } = await read();
  const method = paymentMethods.find(({ address }) => address !== null);
  if (method?.address == null || method.amount === null) throw new Error(`${id} has no method to pay`);
  await send("USDT", method.amount, method.address);
  const mined = async () => {
    await mine();
    return read();
  };
  await until(mined, ({ status }) => status === "PAID", PAID_WITHIN_MS);
}
