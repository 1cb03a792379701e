import { onPress, unhide } from "./page.ts";

/** Call the returned function when the page has changed. */
export function startPrint(): () => void {
  onPress("[data-print]", () => window.print());
  return () => unhide("[data-print]");
}
