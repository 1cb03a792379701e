interface Of {
  readonly name: string;
  readonly checkoutUrl: string;
}

/** A link that looks like a button, for any web page: it needs no script, and works even if inline styles are forbidden. */
export function buttonSnippet({ name, checkoutUrl }: Of): string {
  const style =
    "display:inline-block;padding:.7em 1.4em;border-radius:.5em;background:#4338ca;color:#fff;font:600 1rem system-ui,sans-serif;text-decoration:none";
  return [`<a href="${escaped(checkoutUrl)}"`, `  style="${style}">`, `  Buy ${escaped(name)}`, "</a>"].join("\n");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
