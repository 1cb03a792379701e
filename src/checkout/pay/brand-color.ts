// Decides where a shop's colour is used. Text on that colour, and text in that colour, must be readable in light and dark mode (WCAG 2.2, 1.4.3 and
// 1.4.11).

/** Backgrounds of text on our pages: the page and its card. Must equal those in style.css. */
export const BACKGROUNDS = { light: ["#f4f5f7", "#ffffff"], dark: ["#0f1216", "#181c22"] } as const;

/** The colour of text on these backgrounds. Must equal that in style.css. */
export const INK = { light: "#15181d", dark: "#eceff3" } as const;

const DEFAULT_COLOR = "#2f5bd8";
/** The required contrasts: 1.4.3 for text, 1.4.11 for the parts that identify a control. */
const TEXT_CONTRAST = 4.5;
const EDGE_CONTRAST = 3;

export interface BrandColors {
  /** The shop's colour as a background, the same in light and dark mode. */
  readonly brand: string;
  /** Colour of text on that background. */
  readonly onBrand: string;
  readonly light: SchemeColors;
  readonly dark: SchemeColors;
}

interface SchemeColors {
  /** Colour of links and small text: the brand's if it is readable, otherwise the page's. */
  readonly text: string;
  /** Colour of lines and marks that have a meaning: the brand's if its contrast is sufficient, otherwise the page's. */
  readonly edge: string;
}

/** The shop's colours, or ours if it has none. A value that is not `#rrggbb` is ignored, because it is written into a style sheet. */
export function brandColors(color: string | null): BrandColors {
  const brand = color !== null && /^#[0-9a-f]{6}$/i.test(color) ? color.toLowerCase() : DEFAULT_COLOR;
  return {
    brand,
    // Black or white always has a contrast of at least 4.58:1, the square root of 21. White is used if both are sufficient, as is usual for buttons.
    onBrand: contrast("#ffffff", brand) >= TEXT_CONTRAST ? "#ffffff" : "#000000",
    light: schemeColors(brand, "light"),
    dark: schemeColors(brand, "dark"),
  };
}

/** Contrast ratio of two colours as `#rrggbb`, 1 to 21 (WCAG 2.2 "contrast ratio"). */
export function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function schemeColors(brand: string, scheme: "light" | "dark"): SchemeColors {
  const least = Math.min(...BACKGROUNDS[scheme].map((background) => contrast(brand, background)));
  return {
    text: least >= TEXT_CONTRAST ? brand : INK[scheme],
    edge: least >= EDGE_CONTRAST ? brand : INK[scheme],
  };
}

/** Relative luminance of `#rrggbb`, 0 to 1 (WCAG 2.2 "relative luminance"). */
function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
