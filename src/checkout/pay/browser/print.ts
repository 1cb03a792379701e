import { onPress, unhide } from "./page.ts";

/** The result is to be called when the page changed. */
export function startPrint(): () => void {
  onPress("[data-print]", () => window.print());
  return () => unhide("[data-print]");
}
