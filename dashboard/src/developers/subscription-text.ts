/** `*` gets every event. */
export function subscriptionText(events: readonly string[]): string {
  if (events.includes("*")) return "Hears every event";
  return `Hears ${events.join(", ")}`;
}
