import { afterEach, describe, expect, test, vi } from "vitest";
import { type Ask, expectRefusal, sendWith } from "../../support/access.ts";
import { seedUser } from "../../support/people.ts";

const DEV_CONTROL = "http://127.0.0.1:4747/token";
const STATE = { state: "RUNNING", network: "ETH_SEPOLIA", cryptocurrency: "USDC" };
const PAYMENT = {
  cryptocurrency: "USDC",
  network: "ETH_SEPOLIA",
  amountDue: "49.9",
  address: "0x52908400098527886E0F7030069857D2E4169EE7",
  requiredConfirmations: 2,
};
const ASKS: readonly [string, Ask][] = [
  ["/dev/chain", {}],
  ["/dev/chain", { method: "PATCH", body: { state: "RUNNING" } }],
  ["/dev/payments", { method: "POST", body: PAYMENT }],
];

afterEach(() => vi.unstubAllGlobals());

/** The Worker's calls to the control port, in order. */
function listening(status = 200): { readonly url: string; readonly method: string; readonly body: unknown }[] {
  const asked: ReturnType<typeof listening> = [];
  vi.stubGlobal("fetch", async (url: string, { method = "GET", body, headers }: RequestInit) => {
    expect(new Headers(headers).has("origin")).toBe(false);
    asked.push({ url, method, body: body === undefined ? undefined : JSON.parse(String(body)) });
    return Response.json(STATE, { status });
  });
  return asked;
}

describe("the test chain of a development server", () => {
  test("can be read, started and sent payments through the control port of npm start", async () => {
    const { headers } = await seedUser();
    const asked = listening();
    for (const [path, ask] of ASKS) {
      const answer = await sendWith({ DEV_CONTROL }, path, { ...ask, headers });
      expect([answer.status, answer.json]).toEqual([200, STATE]);
    }
    expect(asked).toEqual([
      { url: `${DEV_CONTROL}/chain`, method: "GET", body: undefined },
      { url: `${DEV_CONTROL}/chain`, method: "POST", body: {} },
      { url: `${DEV_CONTROL}/payments`, method: "POST", body: PAYMENT },
    ]);
  });

  test("is unavailable while the control port refuses", async () => {
    const { headers } = await seedUser();
    listening(500);
    const [state, start, pay] = await Promise.all(
      ASKS.map(([path, ask]) => sendWith({ DEV_CONTROL }, path, { ...ask, headers })),
    );
    expect(state?.json).toMatchObject({ state: "UNAVAILABLE" });
    for (const answer of [start, pay]) if (answer) expectRefusal(answer, 503, "CHAIN_UNAVAILABLE");
  });

  test.each([
    ["on another network", { ...PAYMENT, network: "ETH" }],
    ["without confirmations", { ...PAYMENT, requiredConfirmations: 0 }],
    ["with an unknown field", { ...PAYMENT, from: "0x0" }],
  ])("accepts no payment %s", async (_, body) => {
    const { headers } = await seedUser();
    const asked = listening();
    const answer = await sendWith({ DEV_CONTROL }, "/dev/payments", { method: "POST", body, headers });
    expectRefusal(answer, 400, "VALIDATION_FAILED");
    expect(asked).toEqual([]);
  });

  test.each([
    ["in production", { ENVIRONMENT: "production" }],
    ["if ENVIRONMENT is empty", { ENVIRONMENT: "" }],
    ["without a control port", { DEV_CONTROL: "" }],
    ["if it was never set", { DEV_CONTROL: undefined } as unknown as Partial<Env>],
  ])("does not exist %s, for any caller", async (_, changes) => {
    const { headers } = await seedUser();
    const asked = listening();
    for (const [path, ask] of ASKS) {
      for (const given of [headers, {}]) {
        const there = expectRefusal(await sendWith(changes, path, { ...ask, headers: given }), 404, "ROUTE_NOT_FOUND");
        const nowhere = await sendWith(changes, `${path}s`, { ...ask, headers: given });
        expect(there).toEqual(expectRefusal(nowhere, 404, "ROUTE_NOT_FOUND"));
      }
    }
    expect(asked).toEqual([]);
  });
});
