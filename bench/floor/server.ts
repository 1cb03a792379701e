// Serves the floor like the product, with the same bundler, runtime and compatibility date.
import { bundleWorker } from "../bundle.ts";
import { type Served, serve } from "../serve.ts";

/** One key per merchant; any text works, because the floor only hashes a key and looks it up. */
export const FLOOR_KEYS: readonly string[] = Array.from(
  { length: 64 },
  (_, i) => `sk_live_0123456789abcdef0123456789ab${String(i).padStart(4, "0")}`,
);

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
        GROUPS: { className: "GroupObject", useSQLite: true },
      },
    },
  });
  const answer = await served.fetch("/setup", { method: "POST", body: JSON.stringify(FLOOR_KEYS) });
  if (answer.status !== 200) throw new Error(`the floor could not be set up: ${answer.status} ${await answer.text()}`);
  return served;
}
