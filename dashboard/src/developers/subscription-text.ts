/** The events that an endpoint gets, in words; `*` stands for every event. */
export function subscriptionText(events: readonly string[]): string {
  if (events.includes("*")) return "All events";
  return events.join(", ");
}
