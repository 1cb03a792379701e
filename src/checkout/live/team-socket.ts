// What the `CheckoutRoom` stores with a team member's socket, which hibernation keeps, and what it sends to the member.
import type { MemberPrincipal } from "../../accounts/auth/principal.ts";
import type { Permission } from "../../accounts/roles/permissions.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import { parseJson, printJson } from "../../lib/typed-json.ts";
import type { InvoiceStatus } from "../../platform/column-values.ts";

/** How often a member's session and seat are checked again. An event about the team causes a check at once. */
export const CHECK_MS = 2 * MINUTE_MS;
/** A socket that could not be checked for this long, because storage does not answer, is closed. */
export const UNCHECKED_MS = 10 * MINUTE_MS;

/** Passed by the route in a header of the request that opens the socket. */
export interface TeamMember {
  readonly memberId: string;
  /** `sessions.token_hash`: the token itself is not kept. */
  readonly tokenHash: string;
  readonly views: readonly Permission[];
}

export interface TeamSocket extends TeamMember {
  /** The last event that was sent or skipped; "0" before the first one, "" or a time until the position is known. */
  readonly after: string;
  readonly checkedAtMs: number;
  /** When something was last sent, or else when the socket was opened. */
  readonly newsAtMs: number;
}

/** The permissions that decide which messages a member gets. */
const VIEWS = ["invoice:view", "payment:view", "wallet:view", "webhook:view"] as const satisfies readonly Permission[];

export function viewsOf({ permissions }: Pick<MemberPrincipal, "permissions">): readonly Permission[] {
  return VIEWS.filter((each) => permissions.has(each));
}

const HEADER = "edgetill-team-member";

export function teamHeaders(member: TeamMember & Pick<TeamSocket, "after">): Readonly<Record<string, string>> {
  return { upgrade: "websocket", [HEADER]: printJson(member) };
}

/** The member in the request's header; undefined for the request of a payer's page. */
export function teamMemberIn(headers: Headers): (TeamMember & Pick<TeamSocket, "after">) | undefined {
  const header = headers.get(HEADER);
  return header === null ? undefined : parseJson<TeamMember & Pick<TeamSocket, "after">>(header);
}

/** The columns of a merchant's event that messages need. */
export interface NewsRow {
  readonly id: string;
  readonly type: string;
  readonly invoiceId: string | null;
  readonly sequence: number | null;
  /** The invoice's current status. */
  readonly status: InvoiceStatus | null;
  /** The payment, wallet or endpoint that an event without an invoice is about. */
  readonly about: string | null;
}

interface Message {
  readonly view: Permission;
  readonly body: object;
}

/** The messages about events, oldest first. If an invoice changed several times, there is one message, about its last change. */
export function messagesAbout(rows: readonly NewsRow[]): readonly Message[] {
  const last = new Map(rows.map((row) => [row.invoiceId ?? row.id, row.id]));
  return rows.filter((row) => last.get(row.invoiceId ?? row.id) === row.id).flatMap(messageAbout);
}

function messageAbout({ id, type, invoiceId, sequence, status, about }: NewsRow): readonly Message[] {
  const eventId = id;
  if (invoiceId !== null) {
    return [{ view: "invoice:view", body: { type: "invoice", eventId, invoiceId, status, sequence } }];
  }
  if (type === "payment.unmatched") {
    return [{ view: "payment:view", body: { type: "unmatched", eventId, paymentId: about } }];
  }
  if (type.startsWith("wallet.")) return [{ view: "wallet:view", body: { type: "wallet", eventId, walletId: about } }];
  return type === "webhook.endpoint_disabled" ? [endpointMessage(about, eventId)] : [];
}

/** Reports that an endpoint was switched off, or, without an event, that it has started to fail and is still on. */
export function endpointMessage(webhookId: string | null, eventId: string | null): Message {
  return { view: "webhook:view", body: { type: "endpoint", eventId, webhookId } };
}

/** Sent if the position is unknown at the start, or if the reader missed too many events. The reader then reloads everything. */
export function rereadMessage(eventId: string | null): object {
  return { type: "reread", eventId };
}

/** Whether the event may have changed seats in the team. */
export function isAboutTeam({ type }: Pick<NewsRow, "type">): boolean {
  return type.startsWith("team.");
}

const SOONEST_MS = 5 * SECOND_MS;
const LATEST_MS = 30 * SECOND_MS;

/** How long until events are read again without a notification: 5 s after an event, and up to 30 s if nothing happens. */
export function pollGapMs(sockets: readonly Pick<TeamSocket, "newsAtMs">[], nowMs: number): number {
  const quietMs = nowMs - Math.max(0, ...sockets.map(({ newsAtMs }) => newsAtMs));
  return Math.min(LATEST_MS, Math.max(SOONEST_MS, quietMs / 4));
}
