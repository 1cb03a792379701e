// The request of an open page to a room, as a URL, because an upgrade request cannot carry a body. The path names the invoice, the query the
// caller's networks, each with the number of callers that it counts as.
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
