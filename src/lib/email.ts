/** The email in lower case, the form in which emails are compared (decisions 4, 9). Identifies an account, a customer or an invitation. */
export function emailKeyOf(email: string): string {
  return email.toLowerCase();
}

/**
 * The same text for all spellings of an address that reach one mailbox: without a tag after `+`, for Gmail without dots, with the domain in Punycode.
 * Used only for limits, never to identify anyone: at other providers, two spellings may belong to two people.
 */
export function countedMailboxOf(email: string): string {
  const key = emailKeyOf(email);
  const at = key.lastIndexOf("@");
  const domain = asciiDomain(key.slice(at + 1)).replace(/^googlemail\.com$/, "gmail.com");
  const [name = ""] = key.slice(0, Math.max(at, 0)).split(/(?<=.)\+/s, 1);
  return `${domain === "gmail.com" ? name.replaceAll(".", "") : name}@${domain}`;
}

function asciiDomain(domain: string): string {
  return URL.parse(`http://${domain}`)?.hostname ?? domain;
}
