// What the console must know about the deployment before any request. The Worker puts it into the page (src/app/console/routes.ts), so the
// console requests nothing that does not exist.
const words = (document.querySelector<HTMLMetaElement>('meta[name="deployment"]')?.content ?? "").split(" ");

/** Nothing is served yet: every address shows the page that says so. */
export const isNotSetUp = words.includes("not-set-up");

/** Emails are not sent, but shown at /dev/mail. */
export const hasMailbox = import.meta.env.DEV || words.includes("mailbox");

/** Identifies an application's request, on the page it opened (src/accounts/applications/asked-page.ts). */
export const questionToken = words.find((word) => word.startsWith("question="))?.slice("question=".length);

/** `npm start` can run a local chain, and pay on it. */
export const hasTestChain = import.meta.env.DEV || words.includes("test-chain");
