// Notifies the open checkout pages of one merchant's invoices when something changes. A message only says that something changed: each page then
// fetches the state itself, and a page that gets no message still polls, less often. Members of the merchant's team have sockets here too
// (`serve-team.ts`). While nothing happens, the object hibernates and the platform holds its sockets ("Durable Objects: WebSocket hibernation"). The
// object stores nothing except the next alarm, which is set while a member's socket is open.
import { DurableObject } from "cloudflare:workers";
import { lazily } from "../../lib/lazily.ts";
import { LIMITS } from "../../lib/limits.ts";
import { teamDependencies } from "./dependencies.ts";
import { pageIn } from "./room-url.ts";
import { type TeamDependencies, TeamSockets } from "./serve-team.ts";
import { teamMemberIn } from "./team-socket.ts";

/** The maximum number of open pages for one invoice: the payer's own devices, including sockets whose loss went unnoticed. */
export const PAGES_PER_INVOICE = LIMITS.checkoutPagesPerInvoice;
/** The maximum number of open pages for one merchant. The platform's own limit is 32,768 sockets. */
export const PAGES_PER_ROOM = LIMITS.checkoutPagesPerMerchant;

const CHANGED = "changed";

/** RFC 6455 "7.4.1": the sender violated the endpoint's policy. */
const POLICY_VIOLATION = 1008;

interface CheckoutRoomRpc {
  /**
   * Sends "changed" to every open page of the invoices among `ids`, and new events to the team's sockets. `ids` may include other ids, which only the
   * team's sockets need.
   */
  tell(ids: readonly string[]): Promise<void>;
}

export class CheckoutRoom extends DurableObject<Env> implements CheckoutRoomRpc {
  readonly #team: TeamSockets;

  constructor(
    state: DurableObjectState,
    env: Env,
    dependencies: (env: Env, merchantId: string) => TeamDependencies = teamDependencies,
  ) {
    super(state, env);
    const merchantId = state.id.name ?? "";
    this.#team = new TeamSockets(
      state,
      lazily(() => dependencies(env, merchantId)),
      merchantId,
    );
    // The platform answers pings, so that a page can keep its connection open without waking the object.
    state.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
  }

  /** Accepts the socket of a team member, or of the page that the URL describes (`roomUrl`). Returns 101, or 429 if there are too many sockets. */
  override async fetch(request: Request): Promise<Response> {
    const member = teamMemberIn(request.headers);
    if (member !== undefined) return opened(await this.#team.join(member));
    return opened(this.#joinPage(request));
  }

  #joinPage(request: Request): WebSocket | undefined {
    const page = pageIn(request.url);
    const { invoiceId } = page;
    const callers = page.callers.map(({ network, times }) => ({ tag: `caller ${network}`, times }));
    const isFull =
      this.ctx.getWebSockets(invoiceId).length >= PAGES_PER_INVOICE ||
      callers.some(({ tag, times }) => this.ctx.getWebSockets(tag).length >= LIMITS.pagesPerIpAndMerchant * times) ||
      this.ctx.getWebSockets().length - this.#team.count >= PAGES_PER_ROOM;
    if (isFull) return undefined;
    const { 0: theirs, 1: own } = new WebSocketPair();
    // The platform keeps the tags with the socket during hibernation.
    this.ctx.acceptWebSocket(own, [invoiceId, ...callers.map(({ tag }) => tag)]);
    return theirs;
  }

  async tell(ids: readonly string[]): Promise<void> {
    const pages = ids.flatMap((id) => (id.startsWith("inv_") ? this.ctx.getWebSockets(id) : []));
    for (const page of pages) if (page.readyState === WebSocket.OPEN) page.send(CHANGED);
    await this.#team.tell(ids);
  }

  override async alarm(): Promise<void> {
    await this.#team.alarm();
  }

  /** Pages only send "ping", which the platform answers; any other message violates the policy. */
  override webSocketMessage(page: WebSocket): void {
    page.close(POLICY_VIOLATION, "messages other than ping are not accepted");
  }
}

function opened(socket: WebSocket | undefined): Response {
  return socket === undefined
    ? new Response(null, { status: 429 })
    : new Response(null, { status: 101, webSocket: socket });
}
