// The URL with which an open page is passed to its `CheckoutRoom`, because an upgrade request cannot have a body. The path names the invoice. The
// query names the caller's networks, and how many callers each counts as.
import type { CallerNetwork } from "../../lib/ip-network.ts";

interface RoomPage {
  readonly invoiceId: string;
  readonly callers: readonly CallerNetwork[];
}

export function roomUrl({ invoiceId, callers }: RoomPage): string {
  const query = new URLSearchParams(callers.map(({ network, times }) => [network, String(times)]));
  return `https://room/${invoiceId}?${query}`;
}

export function pageIn(url: string): RoomPage {
  const { pathname, searchParams } = new URL(url);
  const callers = [...searchParams].map(([network, times]) => ({ network, times: Number(times) }));
  return { invoiceId: pathname.slice(1), callers };
}
