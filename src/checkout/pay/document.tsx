import { raw } from "hono/html";
import type { Child } from "hono/jsx";
import { isLanguage, LANGUAGES } from "../../platform/texts/languages.ts";
import { SCRIPT_PATH } from "./assets.generated.ts";
import { type BrandColors, brandColors } from "./brand-color.ts";
import { type Chrome, keptView } from "./chrome.ts";
import { Filled } from "./parts.tsx";
import STYLE from "./style.generated.txt";
import type { Shop } from "./view.ts";

/** The HTML document around the content of every page. */
export function Document(of: {
  readonly chrome: Chrome;
  readonly title: string;
  /** Null if the shop is unknown. */
  readonly shop: Shop | null;
  /** Query parameters that a change of language must keep. */
  readonly keep?: Readonly<Record<string, string>>;
  /** The value of `<meta http-equiv="refresh">` for browsers without scripts, in seconds: `30`. */
  readonly refresh?: string | undefined;
  readonly head?: Child;
  /** The small print below the page. */
  readonly small?: Child;
  readonly children?: Child;
}) {
  const { chrome, shop, refresh } = of;
  const colors = brandColors(shop?.color ?? null);
  return (
    <>
      {raw("<!doctype html>")}
      <html lang={chrome.language} dir={LANGUAGES[chrome.language].direction}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width" />
          <meta name="robots" content="noindex" />
          <meta name="color-scheme" content="light dark" />
          <title>{of.title}</title>
          <link rel="icon" href={shop?.logoUrl ?? markOf(colors)} />
          <style nonce={chrome.nonce}>{raw(`${STYLE}${brandStyle(colors)}`)}</style>
          <script src={SCRIPT_PATH} nonce={chrome.nonce} defer />
          {refresh === undefined ? null : (
            <noscript>
              <meta http-equiv="refresh" content={refresh} />
            </noscript>
          )}
          {of.head}
        </head>
        <body>
          {shop === null ? null : <ShopHeader chrome={chrome} shop={shop} />}
          {of.children}
          <footer>
            {shop === null ? null : (
              <p>
                <Filled text={chrome.texts.poweredBy} values={{ shop: shop.name }} />
              </p>
            )}
            {of.small}
            {shop === null ? null : <Support chrome={chrome} shop={shop} />}
            <LanguageForm chrome={chrome} keep={of.keep ?? {}} />
          </footer>
          <p id="say" role="status" aria-live="polite" class="visually-hidden" />
        </body>
      </html>
    </>
  );
}

function ShopHeader({ chrome, shop }: { readonly chrome: Chrome; readonly shop: Shop }) {
  return (
    <header>
      {shop.logoUrl === null ? null : <img src={shop.logoUrl} alt="" width="40" height="40" />}
      <p>
        <bdi>{shop.name}</bdi>
      </p>
      {/* The script shows this button when the page is in a frame. */}
      {chrome.isModal ? (
        <button type="button" class="plain" data-close hidden>
          {chrome.texts.close}
        </button>
      ) : null}
    </header>
  );
}

function Support({ chrome, shop }: { readonly chrome: Chrome; readonly shop: Shop }) {
  if (shop.supportUrl === null) return null;
  return (
    <p>
      <a href={shop.supportUrl} rel="noreferrer">
        <Filled text={chrome.texts.support} values={{ shop: shop.name }} />
      </a>
    </p>
  );
}

function LanguageForm({ chrome, keep }: { readonly chrome: Chrome; readonly keep: Readonly<Record<string, string>> }) {
  return (
    <form method="get" action={chrome.path} class="language" data-language>
      {Object.entries({ ...keep, ...keptView(chrome) }).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <label for="lang">{chrome.texts.language}</label>
      <select id="lang" name="lang" autocomplete="off">
        {Object.entries(LANGUAGES).map(([code, { name }]) => (
          <option value={code} lang={code} selected={isLanguage(code) && code === chrome.language}>
            {name}
          </option>
        ))}
      </select>
      <button type="submit">{chrome.texts.changeLanguage}</button>
    </form>
  );
}

/** Our own mark in the shop's colour, for a shop without a logo; a data URI, so that nothing is loaded for it. */
function markOf({ brand, onBrand }: BrandColors): string {
  const tile = `<rect width='32' height='32' rx='8' fill='${brand}'/>`;
  const lines = `<path d='M10 9h13M10 16h9M10 23h13' stroke='${onBrand}' stroke-width='3.4' stroke-linecap='round'/>`;
  const svg = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>${tile}${lines}</svg>`;
  return `data:image/svg+xml,${svg.replaceAll(/[<>#]/g, encodeURIComponent)}`;
}

/** The policy allows no style attributes, so a shop's colours are custom properties in the page's style element. */
function brandStyle({ brand, onBrand, light, dark }: BrandColors): string {
  const root = `:root{--brand:${brand};--on-brand:${onBrand};--link:${light.text};--edge:${light.edge}}`;
  return `${root}@media(prefers-color-scheme:dark){:root{--link:${dark.text};--edge:${dark.edge}}}`;
}
