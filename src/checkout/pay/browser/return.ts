// Redirects back to the shop after a payment, unless the payer reads the receipt, pressed the button to stay, came back
// from the shop, or sees the page in a frame.
import { all, onPress } from "./page.ts";

/** Call the returned function when the page has changed. */
export function startReturn(): () => void {
  const [arrival] = performance.getEntriesByType("navigation");
  // A payer who goes back would be redirected again. A shop that shows us in a frame redirects its own page.
  let isStopped =
    window.top !== window || (arrival instanceof PerformanceNavigationTiming && arrival.type === "back_forward");
  let leftSeconds: number | undefined;
  let timer = 0;

  const stop = () => {
    isStopped = true;
    clearInterval(timer);
    for (const count of all("[data-return-count]")) count.textContent = "";
    for (const button of all("[data-return-stop]")) {
      const hadFocus = button === document.activeElement;
      button.hidden = true;
      if (hadFocus) button.closest("[data-return-url]")?.querySelector<HTMLElement>("a[href]")?.focus();
    }
  };

  const show = () => {
    for (const count of all("[data-return-count]")) {
      count.textContent = (count.dataset.countText ?? "").replace("{seconds}", String(leftSeconds));
    }
    for (const button of all("[data-return-stop]")) button.hidden = false;
  };

  const count = () => {
    const place = document.querySelector<HTMLElement>("[data-return-url]");
    if (isStopped || place === null || leftSeconds === undefined || document.hidden) return;
    leftSeconds--;
    if (leftSeconds > 0) return show();
    isStopped = true;
    clearInterval(timer);
    location.assign(place.dataset.returnUrl ?? "");
  };

  onPress("[data-return-stop], [data-receipt]", stop);
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted) stop();
  });
  return () => {
    const place = document.querySelector<HTMLElement>("[data-return-url]");
    if (place === null) return;
    if (isStopped) return stop();
    if (leftSeconds === undefined) {
      leftSeconds = Number(place.dataset.returnSeconds);
      timer = setInterval(count, 1_000);
    }
    show();
  };
}
