// The marks of coins: our own drawings, a white line on a disc in the colour that people associate with the coin. No logo is copied. The marks are
// inline, so that no request is needed for them; the coin's name is next to each.

/** Colour of the disc, and the line on it in a 24-unit square. */
const MARKS: Readonly<Record<string, readonly [color: string, line: string]>> = {
  BTC: ["#e07c0c", "M9 7v10M9 7h4a2.5 2.5 0 0 1 0 5H9m4 0a2.5 2.5 0 0 1 0 5H9M11 5v2m2-2v2m-2 10v2m2-2v2"],
  LTC: ["#4a6fa5", "M12 6l-2.5 11H16M8.5 13l6-2.5"],
  ETH: ["#5a6bd8", "M12 4.5l5 8-5 3-5-3zM7.5 15.5L12 20l4.5-4.5"],
  POL: ["#7a3fe0", "M12 5.5l5.6 3.25v6.5L12 18.5l-5.6-3.25v-6.5zM12 12l5.6-3.25M12 12v6.5M12 12L6.4 8.75"],
  BNB: ["#b8860b", "M12 5l7 7-7 7-7-7zM12 9.5l2.5 2.5-2.5 2.5L9.5 12z"],
  CRO: ["#12306b", "M12 5l6 3.5v7L12 19l-6-3.5v-7zM14.5 10.2a3 3 0 1 0 0 3.6"],
  TRX: ["#d0142c", "M6 6.5l12 3-7 9zm0 0l5.5 5.3L18 9.5m-6.5 2.3l-.5 6.7"],
  USDT: ["#168a6b", "M7 7h10M12 7v11M12 10.5c-3 0-5.5.6-5.5 1.5s2.5 1.5 5.5 1.5 5.5-.6 5.5-1.5-2.5-1.5-5.5-1.5z"],
  USDC: ["#2468c4", "M14.8 9.3c-.6-2.6-5.6-2.4-5.6.2 0 3 5.8 1.8 5.8 4.9 0 2.9-5.6 2.9-6.2 0M12 5.5v1.8m0 9.4v1.8"],
  DAI: ["#c98a00", "M9 6.5h3a5.5 5.5 0 0 1 0 11H9zM6.5 10.5h11m-11 3h11"],
  WBTC: [
    "#3d3550",
    "M9.5 8.5v7M9.5 8.5h3a1.75 1.75 0 0 1 0 3.5h-3m3 0a1.75 1.75 0 0 1 0 3.5h-3M6.5 7a7.5 7.5 0 0 0 0 10m11-10a7.5 7.5 0 0 1 0 10",
  ],
  EURC: ["#1a56b8", "M16 8.2a5 5 0 1 0 0 7.6M6.5 10.7h7m-7 2.6h7"],
  PYUSD: ["#0b4fa8", "M8.5 18L11 6.5h3a3 3 0 0 1 0 6.5H9.6"],
  UNI: ["#d6107a", "M8 6.5v6a4 4 0 0 0 8 0v-6"],
  SHIB: ["#d9480f", "M6.5 6l3 2.5h5l3-2.5v7.5c0 6-11 6-11 0zm3.5 6v.5m4-.5v.5m-3 2.5h2"],
};

/** Nothing for a coin without a mark. */
export function CoinMark({ code }: { readonly code: string }) {
  const mark = MARKS[code];
  if (mark === undefined) return null;
  const [color, line] = mark;
  return (
    <svg class="coin" viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="12" r="12" fill={color} />
      <path d={line} />
    </svg>
  );
}
