// A member with a browser: signs in with a code from the server's mailbox, and calls the API with the session.
export class DrillBrowser {
  readonly #baseUrl: string;
  readonly #email: string;
  readonly #cookies = new Map<string, string>();

  constructor(baseUrl: string, email: string) {
    this.#baseUrl = baseUrl;
    this.#email = email;
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(`${this.#baseUrl}${path}`, {
      method,
      headers: {
        origin: this.#baseUrl,
        ...(cookie === "" ? {} : { cookie }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    return { status: response.status, text: await response.text() };
  }

  async signIn(): Promise<void> {
    await this.#demand("POST", "/api/v1/auth/email/start", { email: this.#email });
    const url = `${this.#baseUrl}/dev/mail?to=${encodeURIComponent(this.#email)}`;
    const mails = await fetch(url, { headers: { accept: "application/json" } });
    const [code] = /\b\d{8}\b/.exec(await mails.text()) ?? [];
    await this.#demand("POST", "/api/v1/auth/email/verify", { email: this.#email, code });
  }

  async #demand(method: string, path: string, body: unknown): Promise<void> {
    const { status, text } = await this.call(method, path, body);
    if (status > 299) throw new Error(`${method} ${path}: ${status} ${text}`);
  }
}
