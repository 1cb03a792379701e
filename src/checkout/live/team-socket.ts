// What the room knows of the socket of a member of the merchant's team, and what it sends them. Kept with the socket, also in hibernation.
import type { MemberPrincipal } from "../../accounts/auth/principal.ts";
import type { Permission } from "../../accounts/roles/permissions.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import { parseJson, printJson } from "../../lib/typed-json.ts";
import type { InvoiceStatus } from "../../platform/column-values.ts";

/** How often a member's session and seat are checked again; team events have them checked at once. */
export const CHECK_MS = 2 * MINUTE_MS;
/** A socket that could not be checked for this long, because storage does not answer, is closed. */
export const UNCHECKED_MS = 10 * MINUTE_MS;

/** As given by the route, in a header of the request that opens the socket. */
export interface TeamMember {
  readonly memberId: string;
  /** `sessions.token_hash`: the token itself is not kept. */
  readonly tokenHash: string;
  readonly views: readonly Permission[];
}

export interface TeamSocket extends TeamMember {
  /** The last event that was sent or passed over; "0" before the first one, "" until the place is known. */
  readonly after: string;
  readonly checkedAtMs: number;
  /** When something was last sent. */
  readonly newsAtMs: number;
}

/** The permissions by which messages are chosen. */
const VIEWS = ["invoice:view", "payment:view", "wallet:view", "webhook:view"] as const satisfies readonly Permission[];

export function viewsOf({ permissions }: Pick<MemberPrincipal, "permissions">): readonly Permission[] {
  return VIEWS.filter((each) => permissions.has(each));
}

const HEADER = "edgetill-team-member";

export function teamHeaders(member: TeamMember & Pick<TeamSocket, "after">): Readonly<Record<string, string>> {
  return { upgrade: "websocket", [HEADER]: printJson(member) };
}

/** Undefined for the request of a payer's page. */
export function teamMemberIn(headers: Headers): (TeamMember & Pick<TeamSocket, "after">) | undefined {
  const header = headers.get(HEADER);
  return header === null ? undefined : parseJson<TeamMember & Pick<TeamSocket, "after">>(header);
}

/** The part of a merchant's event that messages need. */
export interface NewsRow {
  readonly id: string;
  readonly type: string;
  readonly invoiceId: string | null;
  readonly sequence: number | null;
  /** The invoice's status now. */
  readonly status: InvoiceStatus | null;
  /** The payment, wallet or endpoint that an event without an invoice is about. */
  readonly about: string | null;
}

interface Message {
  readonly view: Permission;
  readonly body: object;
}

/** The messages about events, oldest first. An invoice that changed several times has one, about its last change. */
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

/** Without an event: an endpoint that has begun to fail, and is still on. */
export function endpointMessage(webhookId: string | null, eventId: string | null): Message {
  return { view: "webhook:view", body: { type: "endpoint", eventId, webhookId } };
}

/** Sent at the start if the place is unknown, and when too much was missed: the reader reloads what it shows. */
export function rereadMessage(eventId: string | null): object {
  return { type: "reread", eventId };
}

/** Whether seats may have changed. */
export function isAboutTeam({ type }: Pick<NewsRow, "type">): boolean {
  return type.startsWith("team.");
}

const SOONEST_MS = 5 * SECOND_MS;
const LATEST_MS = 30 * SECOND_MS;

/** How long until events are read again without a notification: 5 s after an event, up to 30 s while nothing happens. */
export function pollGapMs(sockets: readonly Pick<TeamSocket, "newsAtMs">[], nowMs: number): number {
  const quietMs = nowMs - Math.max(0, ...sockets.map(({ newsAtMs }) => newsAtMs));
  return Math.min(LATEST_MS, Math.max(SOONEST_MS, quietMs / 4));
}
