// Coins and tokens on the networks, each with its grain: the smallest difference between two amounts that a direct wallet asks for.

export interface Asset {
  /** Upper-case code, as the API returns it. */
  readonly code: string;
  /** A base unit is 10^-`decimals` of the coin. */
  readonly decimals: number;
  /** The token's contract in canonical form (EIP-55, TRON base58check); null for the native coin. */
  readonly contract: string | null;
  /** The finest grain, in base units: quotes for a direct wallet are rounded up to it, and are made unique by subtracting a multiple of it. */
  readonly grainUnits: bigint;
  /** Coarser grains in base units, coarsest first, tried before `grainUnits` so that most customers see a short number. */
  readonly coarseGrainUnits: readonly bigint[];
  readonly isStable: boolean;
  /** The code whose market price is used. */
  readonly rateCode: string;
}

const ten = (exponent: number): bigint => 10n ** BigInt(exponent);

function coin(code: string, decimals: number, grainUnits: bigint): Asset {
  const coarseGrainUnits = Object.freeze<bigint[]>([]);
  return Object.freeze({
    code,
    decimals,
    contract: null,
    grainUnits,
    coarseGrainUnits,
    isStable: false,
    rateCode: code,
  });
}

const STABLE_CODES: readonly string[] = ["USDT", "USDC", "DAI", "EURC", "PYUSD"];

/**
 * Fraction digits of each grain, coarsest first, for 18-decimal tokens that are not stablecoins. Exchanges truncate amounts, and 1 SHIB is worth
 * little.
 */
const GRAIN_DIGITS: Readonly<Record<string, readonly number[]>> = { UNI: [6], SHIB: [0, 2] };

/** Grains of tokens: stablecoins 10^-2, 10^-3, 10^-4 and finally 10^-6; 8-decimal tokens one unit (exchanges truncate to 8 digits). */
export function token(code: string, decimals: number, contract: string): Asset {
  const isStable = STABLE_CODES.includes(code);
  const digits = GRAIN_DIGITS[code] ?? (isStable || decimals === 6 ? [2, 3, 4, 6] : [decimals]);
  const grains = digits.map((each) => ten(decimals - each));
  const coarseGrainUnits = Object.freeze(grains.slice(0, -1));
  const grainUnits = grains.at(-1) ?? 1n;
  return Object.freeze({ code, decimals, contract, grainUnits, coarseGrainUnits, isStable, rateCode: code });
}

export const BTC = coin("BTC", 8, 1n);
export const LTC = coin("LTC", 8, 10n);
export const ETH = coin("ETH", 18, ten(10));
export const POL = coin("POL", 18, ten(12));
export const BNB = coin("BNB", 18, ten(10));
export const CRO = coin("CRO", 18, ten(12));
export const TRX = coin("TRX", 6, 1n);
