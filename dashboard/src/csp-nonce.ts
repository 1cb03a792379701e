// The nonce of the page's content security policy, for components that write style elements.
import { setNonce } from "get-nonce";

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";

// The package with which Mantine's modals lock scrolling reads the nonce from get-nonce.
setNonce(nonce);

export function cspNonce(): string {
  return nonce;
}
