// Facts about the deployment that the console needs before its first request. The Worker writes them into the page (src/app/console/routes.ts), so
// the console makes no requests to routes that do not exist.
const words = (document.querySelector<HTMLMetaElement>('meta[name="deployment"]')?.content ?? "").split(" ");

/** Whether the deployment is not set up yet. If so, every address except that of the set-up page shows a page that says so. */
export const isNotSetUp = words.includes("not-set-up");

/** Whether emails are shown at /dev/mail instead of being sent. */
export const hasMailbox = import.meta.env.DEV || words.includes("mailbox");

/** Identifies an application's request, on the page that the application opened (src/accounts/applications/asked-page.ts). */
export const questionToken = words.find((word) => word.startsWith("question="))?.slice("question=".length);

/** Whether the console can start a local chain and pay on it, which only `npm start` provides. */
export const hasTestChain = import.meta.env.DEV || words.includes("test-chain");
