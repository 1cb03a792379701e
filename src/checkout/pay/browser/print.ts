import { onPress, unhide } from "./page.ts";

/** Call the result when the page has changed. */
export function startPrint(): () => void {
  onPress("[data-print]", () => window.print());
  return () => unhide("[data-print]");
}
