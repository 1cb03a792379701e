// The console's sources, apart from its builder (dashboard-assets.ts), which loads Vite.

export type BuiltFile = readonly [path: string, content: string | Uint8Array];

export const DASHBOARD_SOURCES = [
  "dashboard/{index.html,package.json,tsconfig.json,vite.config.ts}",
  "dashboard/src/**/*.{ts,tsx,css,svg}",
  "src/app/console/paths.ts",
  "src/chains/**/*.ts",
  "src/commerce/wallets/{derive-address,extended-key,payout-target}.ts",
  "src/lib/*.ts",
  "src/checkout/pay/qr.ts",
];
