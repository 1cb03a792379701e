/** `*` gets every event. */
export function subscriptionText(events: readonly string[]): string {
  if (events.includes("*")) return "Every event";
  return events.join(", ");
}
