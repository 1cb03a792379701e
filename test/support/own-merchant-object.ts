// Runs a merchant's requests in the test's process with the test's bindings, because the merchant's real object would use the Worker's bindings. The
// idempotency keys are stored in the real object.
import { MerchantRequests } from "../../src/app/merchant-requests.ts";
import type { HandedOver } from "../../src/platform/http/handed-over.ts";
import { keysOf } from "./idempotency.ts";

/** The namespace for an app with these bindings. Its objects live as long as the app. `background` receives work that continues after a response. */
export function ownMerchantObjects(world: Env, background: (work: Promise<unknown>) => void): Env["MERCHANT_OBJECT"] {
  const real = world.MERCHANT_OBJECT;
  const quiet = (work: Promise<unknown>) => background(work.catch(() => undefined));
  const started = new Map<string, MerchantRequests>();
  return new Proxy(real, {
    get: (namespace, member) => {
      if (member !== "getByName") return Reflect.get(namespace, member);
      return (...asked: Parameters<Env["MERCHANT_OBJECT"]["getByName"]>) => {
        const opened = { getByName: () => real.getByName(...asked) };
        const [merchantId] = asked;
        const keys = keysOf(opened, merchantId);
        const requests =
          started.get(merchantId) ?? new MerchantRequests({ env: world, merchantId, background: quiet, keys });
        started.set(merchantId, requests);
        const stub = opened.getByName();
        return new Proxy(stub, {
          get: (_, method) => {
            if (method === "answer") return (handed: HandedOver) => requests.answer(structuredClone(handed));
            const value: unknown = Reflect.get(stub, method);
            return typeof value === "function" ? (...given: unknown[]) => Reflect.apply(value, stub, given) : value;
          },
        });
      };
    },
  });
}
