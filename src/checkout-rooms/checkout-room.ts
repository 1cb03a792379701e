// Where the open checkout pages of one merchant's invoices wait for news. A message says only that something changed: what, each page asks for
// itself, and a page that could not be told asks anyway, less often. Nothing is stored, and while nothing happens the object sleeps and the
// platform holds its sockets ("Durable Objects: WebSocket hibernation").
import { DurableObject } from "cloudflare:workers";

/** Of one invoice: the payer's own devices, with sockets that died unnoticed. */
export const PAGES_PER_INVOICE = 20;
/** Of one merchant; the platform's own bound is 32,768. */
export const PAGES_PER_ROOM = 10_000;

export const CHANGED = "changed";

/** RFC 6455 "7.4.1": the endpoint received a message that violates its policy. */
const POLICY_VIOLATION = 1008;

export interface CheckoutRoomRpc {
  /** Says "changed" to every open page of these invoices. */
  tell(invoiceIds: readonly string[]): Promise<void>;
}

export class CheckoutRoom extends DurableObject implements CheckoutRoomRpc {
  constructor(state: DurableObjectState, env: Cloudflare.Env) {
    super(state, env);
    // Answered by the platform, so that a page can keep its connection open without waking anybody.
    state.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
  }

  /** Lets in a page of the invoice that is the URL's path: 101, or 429 where there are too many. */
  override async fetch(request: Request): Promise<Response> {
    const invoiceId = new URL(request.url).pathname.slice(1);
    const isFull =
      this.ctx.getWebSockets(invoiceId).length >= PAGES_PER_INVOICE ||
      this.ctx.getWebSockets().length >= PAGES_PER_ROOM;
    if (isFull) return new Response(null, { status: 429 });
    const { 0: page, 1: own } = new WebSocketPair();
    this.ctx.acceptWebSocket(own, [invoiceId]);
    return new Response(null, { status: 101, webSocket: page });
  }

  async tell(invoiceIds: readonly string[]): Promise<void> {
    const pages = invoiceIds.flatMap((invoiceId) => this.ctx.getWebSockets(invoiceId));
    for (const page of pages) if (page.readyState === WebSocket.OPEN) page.send(CHANGED);
  }

  /** A page says nothing but "ping", which never comes here. */
  override webSocketMessage(page: WebSocket): void {
    page.close(POLICY_VIOLATION, "nothing is listened to here");
  }
}
