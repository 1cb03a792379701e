// The list of the console's sources. It is not in dashboard-assets.ts, because that file loads Vite.

export type BuiltFile = readonly [path: string, content: string | Uint8Array];

export const DASHBOARD_SOURCES = [
  "dashboard/{index.html,package.json,tsconfig.json,vite.config.ts}",
  "dashboard/src/**/*.{ts,tsx,css,svg}",
  "scripts/deploy/public-sources.ts",
  "src/app/console/paths.ts",
  "src/chains/**/*.ts",
  "src/commerce/wallets/{derive-address,extended-key,payout-target}.ts",
  "src/lib/*.ts",
  "src/checkout/pay/qr.ts",
];
