// The floor served like the product: same bundler, same runtime, same date.
import { bundleWorker } from "../bundle.ts";
import { type Served, serve } from "../serve.ts";

/** Any text: the floor only hashes it and looks it up. */
export const FLOOR_KEY = "sk_live_0123456789abcdef0123456789abcdef";

export async function serveFloor(): Promise<Served> {
  const { code } = await bundleWorker({ file: "bench/floor/worker.ts" });
  const served = await serve({
    code,
    options: {
      name: "floor",
      compatibilityDate: "2026-11-02",
      compatibilityFlags: ["nodejs_compat"],
      d1Databases: { DB: "floor" },
      durableObjects: {
        RESERVATIONS: { className: "ReservationsObject", useSQLite: true },
        WALLETS: { className: "WalletObject", useSQLite: true },
      },
    },
  });
  const answer = await served.fetch("/setup", { method: "POST", headers: { "x-api-key": FLOOR_KEY } });
  if (answer.status !== 200) throw new Error(`the floor could not be set up: ${answer.status} ${await answer.text()}`);
  return served;
}
