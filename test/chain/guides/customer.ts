// A customer of a shop, who opens its pages and presses buttons.
import { expect } from "vitest";

export interface Page {
  readonly url: string;
  readonly status: number;
  readonly html: string;
}

/** Where a button led: to another site, or to one of the shop's pages. */
export type Led = { readonly location: string } | { readonly page: Page };

export async function openPage(url: string): Promise<Page> {
  return pageOf(url, await fetch(url, { headers: { accept: "text/html" }, redirect: "manual" }));
}

/** Sends the only form of a page, as a browser does. Redirects within the shop are followed. */
export async function pressButton(page: Page): Promise<Led> {
  const forms = [...page.html.matchAll(/<form([^>]*)>(.*?)<\/form>/gs)];
  expect(forms, page.html).toHaveLength(1);
  const [, attributes = "", content = ""] = forms[0] ?? [];
  expect(attributes).toMatch(/method="post"/i);
  const fields = [...content.matchAll(/<input([^>]*)>/g)].map(([, input = ""]) => [
    attributeOf(input, "name"),
    attributeOf(input, "value"),
  ]);
  const to = new URL(attributeOf(attributes, "action"), page.url).href;
  const response = await fetch(to, { method: "POST", body: new URLSearchParams(fields), redirect: "manual" });
  const location = response.headers.get("location");
  if (location === null) return { page: await pageOf(to, response) };
  expect(response.status).toBe(303);
  await response.arrayBuffer();
  const target = new URL(location, to);
  return target.origin === new URL(page.url).origin ? { page: await openPage(target.href) } : { location: target.href };
}

/** The value of a page's only hidden field. */
export function hiddenIn({ html }: Page): string {
  const hidden = [...html.matchAll(/<input([^>]*type="hidden"[^>]*)>/g)].map(([, input = ""]) =>
    attributeOf(input, "value"),
  );
  expect(hidden, html).toHaveLength(1);
  return hidden[0] ?? "";
}

/** A page's visible text. */
export function textOf({ html }: Page): string {
  return html
    .replace(/<(script|style|title)\b.*?<\/\1>/gs, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");
}

async function pageOf(url: string, response: Response): Promise<Page> {
  return { url, status: response.status, html: await response.text() };
}

function attributeOf(attributes: string, name: string): string {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
}
