import { raw } from "hono/html";
import type { Child } from "hono/jsx";
import type { Chrome } from "./chrome.ts";
import { LANGUAGES } from "./languages.ts";
import type { Shop } from "./view.ts";

/** The frame of every page. */
export function Document(of: {
  readonly chrome: Chrome;
  readonly title: string;
  /** Null where no shop is known. */
  readonly shop: Shop | null;
  readonly children?: Child;
}) {
  const { chrome, title, children } = of;
  return (
    <>
      {raw("<!doctype html>")}
      <html lang={chrome.language} dir={LANGUAGES[chrome.language].direction}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width" />
          <meta name="robots" content="noindex" />
          <title>{title}</title>
        </head>
        <body>{children}</body>
      </html>
    </>
  );
}
