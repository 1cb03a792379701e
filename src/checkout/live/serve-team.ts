// The sockets of a merchant's team in the merchant's `CheckoutRoom`: what each receives, and when it is closed. All state that must outlive the
// object is in D1 or attached to the sockets, so that the object can hibernate while nothing happens.
import { memberSeats } from "../../accounts/auth/authenticate-session.ts";
import type { SignInProvider } from "../../accounts/security-policies/security-policy.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { readNews } from "./read-news.ts";
import {
  CHECK_MS,
  endpointMessage,
  isAboutTeam,
  messagesAbout,
  pollGapMs,
  rereadMessage,
  type TeamMember,
  type TeamSocket,
  UNCHECKED_MS,
  viewsOf,
} from "./team-socket.ts";

const TEAM = "team";
/** Close codes: the session or the seat has ended (RFC 6455 "7.4.1"), or the client should try again later (registered with IANA). */
const ENDED = 1008;
const TRY_LATER = 1013;

type SocketState = Pick<DurableObjectState, "acceptWebSocket" | "getWebSockets" | "storage">;

export interface TeamDependencies {
  readonly db: Db;
  readonly sleep: Sleep;
  readonly nowMs: () => number;
  readonly configured: ReadonlySet<SignInProvider>;
}

export class TeamSockets {
  readonly #state: SocketState;
  readonly #deps: () => TeamDependencies;
  readonly #merchantId: string;
  #isSending = false;
  /** Whether a notification arrived while events were being read. */
  #isToldAgain = false;

  /** `deps` is called only once a member has connected. */
  constructor(state: SocketState, deps: () => TeamDependencies, merchantId: string) {
    this.#state = state;
    this.#deps = deps;
    this.#merchantId = merchantId;
  }

  get count(): number {
    return this.#state.getWebSockets(TEAM).length;
  }

  /** Returns undefined if there are too many sockets. */
  async join(member: TeamMember & Pick<TeamSocket, "after">): Promise<WebSocket | undefined> {
    const tag = `member ${member.memberId}`;
    const isFull =
      this.#state.getWebSockets(tag).length >= LIMITS.liveConnectionsPerMember ||
      this.count >= LIMITS.liveConnectionsPerMerchant;
    if (isFull) return undefined;
    const { 0: theirs, 1: own } = new WebSocketPair();
    this.#state.acceptWebSocket(own, [TEAM, tag]);
    const nowMs = this.#deps().nowMs();
    own.serializeAttachment({ ...member, checkedAtMs: nowMs, newsAtMs: nowMs } satisfies TeamSocket);
    await this.#state.storage.setAlarm(nowMs);
    return theirs;
  }

  /** Sends new events, and reports endpoints that start to fail, for which there is no event. */
  async tell(ids: readonly string[]): Promise<void> {
    if (this.count === 0) return;
    for (const id of ids) {
      if (!id.startsWith("whk_")) continue;
      const { view, body } = endpointMessage(id, null);
      for (const [socket, { views }] of this.#open()) if (views.includes(view)) socket.send(JSON.stringify(body));
    }
    await this.#sendNews();
  }

  /** The next alarm is set first, so that a crash does not stop the checks. */
  async alarm(): Promise<void> {
    const open = this.#open();
    if (open.length === 0) return;
    const nowMs = this.#deps().nowMs();
    const gapMs = pollGapMs(
      open.map(([, socket]) => socket),
      nowMs,
    );
    await this.#state.storage.setAlarm(nowMs + gapMs);
    await this.#sendNews();
    await this.#check(CHECK_MS);
  }

  #open(): readonly (readonly [WebSocket, TeamSocket])[] {
    const sockets = this.#state.getWebSockets(TEAM).filter(({ readyState }) => readyState === WebSocket.OPEN);
    return sockets.map((socket) => [socket, attachmentOf(socket)]);
  }

  /** Runs one read at a time, and another read afterwards if something happens meanwhile. Does not wait for a read that another caller started. */
  async #sendNews(): Promise<void> {
    this.#isToldAgain = true;
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      while (this.#isToldAgain) {
        this.#isToldAgain = false;
        const places = new Set(this.#open().map(([, { after }]) => after));
        for (const place of places) await this.#sendFrom(place);
      }
    } finally {
      this.#isSending = false;
    }
  }

  /** Sends new events to the sockets whose position is `place`, usually all of them. If storage does not answer, the position stays. */
  async #sendFrom(place: string): Promise<void> {
    const news = await readNews(this.#deps(), this.#merchantId, place);
    if (!news.ok) return;
    const { rows, place: after } = news.value;
    const isNews = rows === undefined || rows.length > 0;
    if (!isNews && after === place) return;
    const messages = rows === undefined ? undefined : messagesAbout(rows);
    const newsAtMs = this.#deps().nowMs();
    for (const [socket, before] of this.#open()) {
      if (before.after !== place) continue;
      socket.serializeAttachment({ ...before, after, ...(isNews && { newsAtMs }) } satisfies TeamSocket);
      const bodies = messages?.filter(({ view }) => before.views.includes(view)).map(({ body }) => body) ?? [
        rereadMessage(after),
      ];
      for (const body of bodies) socket.send(JSON.stringify(body));
    }
    if (rows?.some(isAboutTeam)) await this.#check(0);
  }

  /**
   * Rechecks the sockets that have not been checked for this long, and closes those whose session or seat has ended, or could not be checked for
   * UNCHECKED_MS.
   */
  async #check(olderThanMs: number): Promise<void> {
    const nowMs = this.#deps().nowMs();
    const due = this.#open().filter(([, { checkedAtMs }]) => nowMs - checkedAtMs >= olderThanMs);
    if (due.length === 0) return;
    const tokenHashes = [...new Set(due.map(([, { tokenHash }]) => tokenHash))];
    const deps = this.#deps();
    const seats = await memberSeats(deps.db, { ...deps, merchantId: this.#merchantId, nowMs, tokenHashes });
    for (const [socket] of due) {
      const before = attachmentOf(socket);
      const seat = seats.ok ? seats.value.get(before.tokenHash) : undefined;
      const views = seat === undefined ? [] : viewsOf(seat);
      if (!seats.ok) {
        if (nowMs - before.checkedAtMs >= UNCHECKED_MS) socket.close(TRY_LATER, "the session could not be checked");
      } else if (!views.includes("invoice:view")) socket.close(ENDED, "the session or the seat has ended");
      else socket.serializeAttachment({ ...before, views, checkedAtMs: nowMs } satisfies TeamSocket);
    }
  }
}

function attachmentOf(socket: WebSocket): TeamSocket {
  const attachment: TeamSocket = socket.deserializeAttachment();
  return attachment;
}
