// Loads the page on which an application asks a user for an API key (`/api-keys/authorize`), as a browser does.
import { exports } from "cloudflare:workers";

interface AskedPage {
  readonly policy: string;
  /** The token of the question; undefined if the page asks nothing. */
  readonly token: string | undefined;
}

export async function askedPage(query: string): Promise<AskedPage> {
  const page = await exports.default.fetch(`http://localhost:8787/api-keys/authorize?${query}`, {
    headers: { accept: "text/html" },
  });
  const policy = page.headers.get("content-security-policy") ?? "";
  return { policy, token: /\bquestion=([\w.-]+)/.exec(await page.text())?.[1] };
}
