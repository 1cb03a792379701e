// Many users behind one address, as in an office. Their valid requests must not count as attempts with wrong keys.
import type { Shop } from "./book.ts";
import type { Twin } from "./deployment.ts";

/**
 * More than the outer limit of refused keys allows one address in a minute (FAILED_CREDENTIALS in wrangler.toml), and fewer than the limit for all
 * requests.
 */
const GOOD = 130;
const AT_ONCE = 10;
const MINUTE_MS = 60_000;
const ADDRESS = "203.0.113.7";

const minuteNow = () => Math.floor(Date.now() / MINUTE_MS);

/** The wrong answers; empty if there are none. */
export async function oneAddress(twin: Pick<Twin, "ask">, { merchantId, headers }: Shop): Promise<readonly string[]> {
  const ask = (key: Shop["headers"]) =>
    twin.ask(`/api/v1/merchants/merchant/${merchantId}/invoices?limit=1`, {
      headers: { ...key, "cf-connecting-ip": ADDRESS },
    });
  for (;;) {
    const minute = minuteNow();
    for (let asked = 0; asked < GOOD; asked += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, () => ask(headers)));
    const { status } = await ask({ "x-api-key": "sk_of_nobody" });
    // Otherwise a new minute has begun, and the count has started again.
    if (minute === minuteNow())
      return status === 401
        ? []
        : [`after ${GOOD} good requests of one address a wrong key is answered ${status}, and not 401`];
  }
}
