// Texts that strangers and colleagues may write, for tests that show them on every page that displays such texts.
import type { Page } from "playwright-core";
import { expect } from "vitest";

export const PHONE = { width: 360, height: 800 };
const DESK = { width: 1280, height: 800 };

/** No text is longer than the shortest name field. */
export const TEXTS = {
  "markup that would run": `"'><img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>`,
  "a link that would run": "javascript:alert(document.domain)//https://example.com/",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it must stay a text
  "a template and an escape": "{{7*7}} ${7*7} %3Cscript%3E &lt;b&gt; \\u003cb\\u003e '; DROP TABLE invoices;--",
  "a text that turns round": "Invoice \u202Egpj.exe\u202C \u2067مرحبا\u2069 \u200Fשלום",
  "invisible characters": "pay\u200B\u200C\u200D\u2060pal\uFEFF\u00AD.com",
  "stacked combining marks": `Z\u0351\u036B\u0343${"\u0325\u0349".repeat(40)} 👩‍👩‍👧‍👦🏳️‍🌈👍🏽`,
  "two hundred characters without a space": "W".repeat(200),
} as const;

/** A text of this many characters without a space. */
export const long = (text: string, length: number) =>
  [...text.replaceAll(" ", "_").repeat(length)].slice(0, length).join("");

export const HOSTILE_AGENT = "<script>alert(4)</script> Chrome/999 javascript:alert(5)";

export async function expectFit(page: Page, what: string): Promise<void> {
  for (const size of [DESK, PHONE]) {
    await page.setViewportSize(size);
    const excess = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    await expect.poll(() => page.evaluate<number>(excess), { message: `${what}, ${size.width} px` }).toBe(0);
  }
}
