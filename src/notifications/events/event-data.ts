// The `data` of each event type. Each feature declares the types of its own events; docs/events.md is generated from all of them.
import type { ApiKeyEvents } from "../../accounts/api-keys/api-key-events.ts";
import type { TeamEvents } from "../../accounts/teams/team-events.ts";
import type { InvoiceEvents } from "../../commerce/invoices/invoice-events.ts";
import type { WalletEvents } from "../../commerce/wallet-records/wallet-events.ts";
import type { UnmatchedEvents } from "../../detection/matching/unmatched-events.ts";
import type { WatchEvents } from "../../detection/passes/degraded-events.ts";
import type { EventType } from "../../platform/events/event.ts";
import type { EndpointEvents } from "../deliveries/endpoint-events.ts";

interface Data
  extends InvoiceEvents,
    UnmatchedEvents,
    WalletEvents,
    WatchEvents,
    TeamEvents,
    ApiKeyEvents,
    EndpointEvents {}

/** The type has an entry for every event type, so none can be forgotten. */
export type EventData = { readonly [T in EventType]: Data[T] };
