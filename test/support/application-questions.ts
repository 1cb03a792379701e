// The page an application opens, as a browser receives it.
import { exports } from "cloudflare:workers";

interface AskedPage {
  readonly policy: string;
  /** Undefined if the page asks nothing. */
  readonly token: string | undefined;
}

export async function askedPage(query: string): Promise<AskedPage> {
  const page = await exports.default.fetch(`http://localhost:8787/api-keys/authorize?${query}`, {
    headers: { accept: "text/html" },
  });
  const policy = page.headers.get("content-security-policy") ?? "";
  return { policy, token: /\bquestion=([\w.-]+)/.exec(await page.text())?.[1] };
}
